"""What a write to the contract will do, and what it did."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.models.base import Model

_WEI_PER_ETH: Final = 10**18
_WEI_PER_GWEI: Final = 10**9


def ether(wei: int) -> str:
    """An amount of wei for people: in ETH with at most nine decimals, small ones in gwei.

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
    """One write before it is signed: simulated, decoded and priced."""

    function: str
    """The contract's function."""

    what: str
    """What it will change, with names in place of hashes and numbers."""

    arguments: dict[str, Any]
    """Every argument by name, as it will be sent; hashes as hex."""

    sender: str
    """The wallet that acts."""

    through: str | None = None
    """The wallet that signs the transaction when ``sender`` is a contract; it pays the gas."""

    gas: int
    """Gas that the simulation used, estimated by the node."""

    cost_wei: int
    """What that costs at the present price, in wei."""

    max_cost_wei: int
    """The most that it may cost, in wei: with a fifth more gas, and at twice the present price."""

    quiet = frozenset({"arguments"})

    def summary(self) -> dict[str, Any]:
        """Returns the write in few words."""
        return {
            "what": self.what,
            "function": self.function,
            "sender": self.sender,
            "through": self.through,
            "gas": f"{self.gas:,}",
            "cost": f"{ether(self.cost_wei)} (at most {ether(self.max_cost_wei)})",
        }


class Receipt(Model):
    """One write that the chain took."""

    what: str
    """What it changed, with names in place of hashes and numbers."""

    function: str
    transaction_hash: str
    block: int
    gas_used: int
    cost_wei: int
    """What it cost, in wei."""

    def summary(self) -> dict[str, Any]:
        """Returns the write in few words."""
        return {
            "what": self.what,
            "block": self.block,
            "gas": f"{self.gas_used:,}",
            "cost": ether(self.cost_wei),
            "transaction": self.transaction_hash,
        }
