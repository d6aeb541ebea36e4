"""Money: a ledger in whole cents, and the local payment processor that fills it."""
