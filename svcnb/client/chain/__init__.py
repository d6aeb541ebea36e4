"""The AccountConfig contract over JSON-RPC: reads, writes with simulation and explanation, events, history.

All operations are flows (`svcnb.client.calls`), which perform no input or output themselves. They need no additional
library, and both clients use them. Only signing a transaction needs the extra ``chain``.
"""

from __future__ import annotations
