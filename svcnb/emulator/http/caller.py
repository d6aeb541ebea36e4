"""Identity of the caller: the account of a presented key."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """The account behind a key.

    Attributes:
        key_hash: Hash of the presented key, by which the contract finds it.
        master_hash: Hash of the account.
        is_master: Whether the key is the account key (or an admin wallet's alias), not a usage key.
        managed: Whether the account is in API mode.
        admin_address: The account's admin wallet, lower case.
        billing_wallet: The wallet of the account that pays, lower case.
        expiration: Unix seconds at which a usage key ends, 0 for never.
        account_wallet: Whether the caller proved a wallet instead of a key (billing only).
    """

    key_hash: int
    master_hash: int
    is_master: bool
    managed: bool
    admin_address: str
    billing_wallet: str
    expiration: int = 0
    account_wallet: bool = False

    @property
    def key_hash_hex(self) -> str:
        """The key's hash as ``0x`` + 64 hex digits."""
        return f"0x{self.key_hash:064x}"
