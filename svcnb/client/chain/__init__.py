"""Client of the AccountConfig contract over JSON-RPC: reads, simulated writes with descriptions, events and history.

All operations are flows (`svcnb.client.calls`), which perform no input or output themselves. Both clients use the
flows, which need no additional library. Only signing a transaction needs the ``chain`` extra.
"""

from __future__ import annotations
