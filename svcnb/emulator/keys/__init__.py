"""Key custody: one root secret, and every wallet, action and payer key derived from it."""
