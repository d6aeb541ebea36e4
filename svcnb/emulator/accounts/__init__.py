"""Accounts and their resources: usage keys, groups, wallets and actions.

Source: docs/service/endpoints.md#account-and-keys, docs/service/http.md#lists,
    docs/service/signatures.md#follow-up-transactions.
"""
