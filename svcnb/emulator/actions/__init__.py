"""Execution of actions: endpoints, the check whether a run may use a wallet, cached sources, and a record of runs."""
