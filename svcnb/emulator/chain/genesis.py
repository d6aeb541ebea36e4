"""The first block of the built-in chain."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NamedTuple

from svcnb.emulator.chain.errors import ChainUnusable

ANVIL: Final = "anvil"
ETHEREUMJS: Final = "ethereumjs"

HARDFORK: Final = "prague"
GAS_LIMIT: Final = 30_000_000
BASE_FEE: Final = 10**9
"""Wei per unit of gas in the first block."""


class Genesis(NamedTuple):
    """Parameters that determine the first block.

    Attributes:
        chain_id: The chain's number.
        timestamp: Unix seconds.
        balances: Wei by address, lowercase.
        engine: The engine of the chain. Dumps and blocks of one engine cannot be used by the other.
    """

    chain_id: int
    timestamp: int
    balances: dict[str, int]
    engine: Literal["anvil", "ethereumjs"] = ANVIL

    def as_text(self) -> str:
        """Text of all parameters that must be the same for blocks to be the same."""
        content = self._asdict() | {"hardfork": HARDFORK, "gas_limit": GAS_LIMIT}
        if self.engine == ANVIL:
            del content["engine"]  # states from before a second engine existed do not name one
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Genesis:
        """Reads `as_text`.

        Raises:
            ChainUnusable: The text belongs to a chain with other rules than this version's.
        """
        content = json.loads(text)
        if (content.pop("hardfork"), content.pop("gas_limit")) != (HARDFORK, GAS_LIMIT):
            raise ChainUnusable(
                "the state was written by another version of svcnb, whose chain had other rules: use that one"
            )
        return cls(**content)

    def as_file(self) -> str:
        """The genesis file for anvil."""
        return json.dumps(
            {
                "config": {"chainId": self.chain_id},
                "alloc": {address: {"balance": hex(wei)} for address, wei in self.balances.items()},
                "gasLimit": hex(GAS_LIMIT),
                "difficulty": "0x0",
                "timestamp": hex(self.timestamp),
            }
        )

    def as_request(self) -> str:
        """The first input line for the chain on @ethereumjs/vm."""
        balances: dict[str, Any] = {address: str(wei) for address, wei in self.balances.items()}
        return json.dumps(
            {
                "chain_id": self.chain_id,
                "timestamp": self.timestamp,
                "balances": balances,
                "gas_limit": GAS_LIMIT,
                "base_fee": BASE_FEE,
            }
        )
