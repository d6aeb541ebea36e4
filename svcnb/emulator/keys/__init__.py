"""Key custody: one root secret, from which all wallet, action and payer keys are derived."""
