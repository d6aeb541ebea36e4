"""Client of the AccountConfig contract over JSON-RPC: reads, simulated writes with descriptions, events and history.

All operations are flows (`svcnb.client.calls`), which perform no input or output themselves. `Client` and `AsyncClient`
run the flows. The ``chain`` extra installs the packages for encoding calls and for signing transactions.
"""

from __future__ import annotations
