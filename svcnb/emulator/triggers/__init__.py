"""Triggers service, which runs actions automatically (docs/service/triggers.md#calls).

Each run is a row of the table ``trigger_runs``. Database transactions admit, claim and end runs, so a killed process
loses no committed run.

- ``webhooks``, ``schedules`` and ``chain_events`` detect the causes of runs, and *admit* one run for each cause
  (``admission``). The transaction that inserts the row checks the queue depth, the rate, and whether the cause already
  has a run.
- ``queue`` executes runs. Each trigger has its own queue, which executes the runs in sequence. Triggers therefore do
  not wait for each other.
- ``execution`` sends the same request as any client. ``outcomes`` interprets the response.
"""
