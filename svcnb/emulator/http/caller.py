"""Identity of the caller: the account that a key belongs to."""

from __future__ import annotations

from typing import NamedTuple


class Caller(NamedTuple):
    """Account that a key belongs to.

    Attributes:
        key_hash: Hash of the key, which identifies it in the contract.
        master_hash: Hash of the account key, which identifies the account.
        is_master: Whether the key is the account key (or the alias of an admin wallet), and not a usage key.
        managed: Whether the account is in API mode.
        admin_address: Address of the account's admin wallet, lower case.
        billing_wallet: Address of the wallet that identifies the paying account, lower case.
        expiration: Unix seconds at which a usage key expires; 0 if it never expires.
    """

    key_hash: int
    master_hash: int
    is_master: bool
    managed: bool
    admin_address: str
    billing_wallet: str
    expiration: int = 0

    @property
    def key_hash_hex(self) -> str:
        """Hash of the key as ``0x`` + 64 hex digits."""
        return f"0x{self.key_hash:064x}"
