"""Billing, with a ledger in whole cents, and a local payment processor that adds credit to the ledger."""
