"""Results of the client, one resource per file."""
