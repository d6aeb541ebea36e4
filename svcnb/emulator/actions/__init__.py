"""Execution of actions: endpoints, the permission rule of wallets, cached sources, and the record of executions."""
