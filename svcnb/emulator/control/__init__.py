"""Control plane under ``/_emulator``, for reset, snapshots, time, faults, credit and executions."""
