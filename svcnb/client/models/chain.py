"""Previews and receipts of writes to the contract."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from svcnb.client.models.base import Model

_WEI_PER_ETH: Final = 10**18
_WEI_PER_GWEI: Final = 10**9


def ether(wei: int) -> str:
    """Returns an amount of wei as text in ETH, with at most nine decimals. Amounts below one gwei stay in wei.

    Example:
        >>> ether(1_500_000_000_000_000_000), ether(21_000_000_000_000), ether(5)
        ('1.5 ETH', '0.000021 ETH', '5 wei')
    """
    if wei == 0 or abs(wei) >= _WEI_PER_GWEI:
        whole, rest = divmod(abs(wei), _WEI_PER_ETH)
        decimals = f"{rest // _WEI_PER_GWEI:09d}".rstrip("0")
        return f"{'-' if wei < 0 else ''}{whole}{'.' if decimals else ''}{decimals} ETH"
    return f"{wei} wei"


class Preview(Model):
    """Preview of one write before the wallet signs the transaction, with decoded arguments and the estimated cost."""

    function: str
    """Name of the contract's function that the transaction will call."""

    what: str
    """Description of the change, with names instead of hashes and numbers."""

    arguments: dict[str, Any]
    """Arguments of the contract's function by name. Hashes are hex strings."""

    sender: str
    """Address of the wallet that changes the account."""

    through: str | None = None
    """Address of the wallet that signs the transaction and pays the gas, if ``sender`` is a contract.

    None if ``sender`` signs the transaction.
    """

    gas: int
    """Amount of gas that the node estimates for the write, in gas units."""

    cost_wei: int
    """Cost of the estimated gas at the current gas price, in wei."""

    max_cost_wei: int
    """Maximum cost in wei: 20% more gas than estimated, at the highest gas price that the transaction permits."""

    quiet: ClassVar[frozenset[str]] = frozenset({"arguments"})

    def summary(self) -> dict[str, Any]:
        """Returns the values to display by label, with the cost in ETH."""
        return {
            "what": self.what,
            "function": self.function,
            "sender": self.sender,
            "through": self.through,
            "gas": f"{self.gas:,}",
            "cost": f"{ether(self.cost_wei)} (at most {ether(self.max_cost_wei)})",
        }


class Receipt(Model):
    """Receipt of a transaction that changed an account in the contract."""

    what: str
    """Description of the change, with names instead of hashes and numbers."""

    function: str
    """Name of the contract's function that the transaction called."""

    transaction_hash: str
    """Hash of the transaction, ``0x`` followed by 64 hex digits."""

    block: int
    """Number of the block that contains the transaction."""

    gas_used: int
    """Amount of gas that the transaction used, in gas units."""

    cost_wei: int
    """Cost of the transaction in wei, which the signing wallet paid."""

    def summary(self) -> dict[str, Any]:
        """Returns the values to display by label, with the cost in ETH."""
        return {
            "what": self.what,
            "block": self.block,
            "gas": f"{self.gas_used:,}",
            "cost": ether(self.cost_wei),
            "transaction": self.transaction_hash,
        }
