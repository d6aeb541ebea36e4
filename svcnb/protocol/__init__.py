"""Names, limits, models and pure functions that the client and the emulator share. They perform no input or output."""
