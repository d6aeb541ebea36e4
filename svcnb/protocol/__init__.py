"""Names, limits, models and pure functions that the client and the emulator share.

The functions perform no input or output.
"""
