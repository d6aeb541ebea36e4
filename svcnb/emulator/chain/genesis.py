"""First block of the emulator's own chain."""

from __future__ import annotations

import json
from typing import Any, Final, Literal, NamedTuple

from svcnb.emulator.chain.errors import ChainUnusable

ANVIL: Final = "anvil"
ETHEREUMJS: Final = "ethereumjs"

HARDFORK: Final = "prague"
GAS_LIMIT: Final = 30_000_000
BASE_FEE: Final = 10**9
"""Base fee of the first block, in wei per unit of gas."""


class Genesis(NamedTuple):
    """Parameters that determine the first block.

    Attributes:
        chain_id: Id of the chain (EIP-155).
        timestamp: Timestamp of the block, in Unix seconds.
        balances: Initial balances in wei, by address. The addresses are in lowercase with the prefix 0x.
        engine: Engine of the chain. Other engines cannot use the dumps and blocks of this engine.
    """

    chain_id: int
    timestamp: int
    balances: dict[str, int]
    engine: Literal["anvil", "ethereumjs"] = ANVIL

    def as_text(self) -> str:
        """Returns a JSON string with all parameters on which the hashes of blocks depend."""
        content = self._asdict() | {"hardfork": HARDFORK, "gas_limit": GAS_LIMIT}
        if self.engine == ANVIL:
            del content["engine"]  # states from versions with only one engine contain no engine
        return json.dumps(content, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Genesis:
        """Parses a string from `as_text`.

        Raises:
            ChainUnusable: A different version of svcnb created the chain, with different rules.
        """
        content = json.loads(text)
        if (content.pop("hardfork"), content.pop("gas_limit")) != (HARDFORK, GAS_LIMIT):
            raise ChainUnusable(
                "the state was written by a different version of svcnb, whose chain had different rules. Use the "
                "version that wrote the state, or a different state folder."
            )
        return cls(**content)

    def as_file(self) -> str:
        """Returns the content of anvil's genesis file, as JSON text."""
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
        """Returns the first input line for the engine @ethereumjs/vm."""
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
