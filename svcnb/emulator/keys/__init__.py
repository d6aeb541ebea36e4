"""Key custody, which derives all wallet, action and payer keys from one root secret."""
