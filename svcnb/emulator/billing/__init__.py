"""Billing: a ledger in whole cents, and the local payment processor that adds credit to it."""
