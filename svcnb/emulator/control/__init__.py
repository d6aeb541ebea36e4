"""Control plane under ``/_emulator``: reset, snapshots, time, faults, credit, executions (design section 4)."""
