"""The AccountConfig contract over JSON-RPC: reads, simulated and explained writes, events, history.

Everything is a flow (`svcnb.client.calls`), so it has no input or output of its own, needs no library of its own, and
serves the synchronous and the asynchronous client alike. Only signing a transaction needs the extra ``chain``.
"""

from __future__ import annotations
