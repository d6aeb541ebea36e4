"""The service's nouns, one a file: flows first, then the synchronous and the asynchronous face of the same flows."""
