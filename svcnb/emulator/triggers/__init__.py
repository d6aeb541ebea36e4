"""The triggers service (specification 4.5): actions that run by themselves.

A run is a row of the ``runs`` table and nothing else. It is admitted, claimed and ended in transactions of the
emulator's own database, so what a kill at any moment leaves behind is exactly what was committed:

- ``webhooks``, ``schedules`` and ``chain_events`` notice causes and *admit* a run each (``admission``): queue depth,
  rate and "this cause had its run already" are decided in the transaction that inserts the row;
- ``lanes`` execute: one lane a trigger, so runs of a trigger go one after another in order, and no trigger waits for
  another;
- ``execution`` makes the call that any client would make, and ``outcomes`` decides what its answer means.
"""
