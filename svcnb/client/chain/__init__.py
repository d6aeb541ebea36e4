"""Client of the AccountConfig contract over JSON-RPC: reads, simulated and explained writes, events and history.

All operations are flows (`svcnb.client.calls`), which perform no input or output themselves. Both clients use them, and
they need no additional library. Only signing a transaction needs the ``chain`` extra.
"""

from __future__ import annotations
