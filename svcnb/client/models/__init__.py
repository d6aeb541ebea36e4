"""Results of the client, one noun a file."""
