"""ChainSecured accounts: a wallet owns the account, and every change is a transaction that the wallet signs."""

from __future__ import annotations
