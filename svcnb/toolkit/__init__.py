"""What to do with the service: built on the client alone, so the same against the emulator and the live API."""
