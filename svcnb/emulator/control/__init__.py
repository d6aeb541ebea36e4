"""The emulator's own controls under ``/_emulator``: reset, snapshots, time, faults, money, runs (design section 4)."""
