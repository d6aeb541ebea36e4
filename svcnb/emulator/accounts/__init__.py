"""Accounts and what they own: usage keys, groups, wallets, actions (specification 4.1, 4.2, 4.4)."""
