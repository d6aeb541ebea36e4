"""Triggers service, which runs actions automatically (docs/service/triggers.md#calls).

A run is a row of the ``trigger_runs`` table. Database transactions admit, claim and end it, so a killed process loses
no committed run.

- ``webhooks``, ``schedules`` and ``chain_events`` detect causes and *admit* one run for each (``admission``). The
transaction that inserts the row checks the queue depth, the rate, and whether the cause already has a run.
- ``queue`` executes runs. Each trigger has its own queue, which executes the runs in sequence. Triggers therefore do
  not wait for each other.
- ``execution`` sends the same request as any client. ``outcomes`` interprets the response.
"""
