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
"""Wei for each unit of gas in the first block."""


class Genesis(NamedTuple):
    """What fixes the first block.

    Attributes:
        chain_id: The chain's number.
        timestamp: Unix seconds.
        balances: Wei by address, lowercase.
        engine: What runs the chain. Dumps and blocks of one engine are of no use to the other.
    """

    chain_id: int
    timestamp: int
    balances: dict[str, int]
    engine: Literal["anvil", "ethereumjs"] = ANVIL

    def as_text(self) -> str:
        """Everything that must be the same for blocks to be the same."""
        content = self._asdict() | {"hardfork": HARDFORK, "gas_limit": GAS_LIMIT}
        if self.engine == ANVIL:
            del content["engine"]  # as states of before there was another one have it
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Genesis:
        """Reads `as_text`.

        Raises:
            ChainUnusable: It is of a chain with other rules than this version's.
        """
        content = json.loads(text)
        if (content.pop("hardfork"), content.pop("gas_limit")) != (HARDFORK, GAS_LIMIT):
            raise ChainUnusable(
                "the state was written by another version of svcnb, whose chain had other rules: use that one"
            )
        return cls(**content)

    def as_file(self) -> str:
        """The genesis file that anvil reads."""
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
        """The first line that the chain on @ethereumjs/vm reads."""
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
