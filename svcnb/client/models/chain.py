"""Previews and receipts of writes to the contract."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from svcnb.client.models.base import Model

_WEI_PER_ETH: Final = 10**18
_WEI_PER_GWEI: Final = 10**9


def ether(wei: int) -> str:
    """Formats an amount of wei: in ETH with at most nine decimals, or in gwei or wei if it is small.

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
    """Preview of one write before the wallet signs it, with the simulated result, decoded arguments and price."""

    function: str
    """The contract's function."""

    what: str
    """Description of the change, with names instead of hashes and numbers."""

    arguments: dict[str, Any]
    """The arguments by name, in the form of the transaction. Hashes are hex strings."""

    sender: str
    """Address of the wallet that changes the account."""

    through: str | None = None
    """Address of the wallet that signs the transaction and pays the gas, if ``sender`` is a contract."""

    gas: int
    """Gas of the write, estimated by the node."""

    cost_wei: int
    """Cost of that gas at the current price, in wei."""

    max_cost_wei: int
    """Maximum cost in wei: 20% more gas at twice the current price."""

    quiet: ClassVar[frozenset[str]] = frozenset({"arguments"})

    def summary(self) -> dict[str, Any]:
        """Returns a short description of the write."""
        return {
            "what": self.what,
            "function": self.function,
            "sender": self.sender,
            "through": self.through,
            "gas": f"{self.gas:,}",
            "cost": f"{ether(self.cost_wei)} (at most {ether(self.max_cost_wei)})",
        }


class Receipt(Model):
    """Receipt of one write."""

    what: str
    """Description of the change, with names instead of hashes and numbers."""

    function: str
    transaction_hash: str
    block: int
    gas_used: int
    cost_wei: int
    """Cost of the write in wei."""

    def summary(self) -> dict[str, Any]:
        """Returns a short description of the write."""
        return {
            "what": self.what,
            "block": self.block,
            "gas": f"{self.gas_used:,}",
            "cost": ether(self.cost_wei),
            "transaction": self.transaction_hash,
        }
