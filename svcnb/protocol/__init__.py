"""Definitions shared by client and emulator: names, limits, models and pure functions, without input or output."""
