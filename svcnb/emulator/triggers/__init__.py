"""Triggers service (specification 4.5): runs actions automatically.

A run is a row of the ``trigger_runs`` table and nothing else. It is admitted, claimed and ended in transactions of the
emulator's own database. A kill at any moment leaves exactly what was committed:

- ``webhooks``, ``schedules`` and ``chain_events`` detect causes and *admit* one run for each (``admission``).
  The transaction that inserts the row checks the queue depth, the rate, and whether the cause already had its run.
- ``queue`` executes runs. Each trigger has its own queue: its runs execute one after another, in order.
  No trigger waits for another.
- ``execution`` makes the same call as any client. ``outcomes`` decides what its answer means.
"""
