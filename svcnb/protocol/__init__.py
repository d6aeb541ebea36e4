"""What both wings agree on: words, limits, shapes and pure functions. No input or output happens here."""
