"""Base components, such as clock, store, limits and signals. They do not import other packages of the emulator."""
