"""Request bodies of the control plane."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, model_validator

from svcnb.emulator.platform.faults import Part
from svcnb.emulator.triggers.identity import DEFAULT_EMAIL
from svcnb.protocol.limits import CLOCK_EARLIEST_S, CLOCK_LATEST_S
from svcnb.protocol.wire.values import WalletAddress


class _Body(BaseModel):
    # Unlike the service's own requests: a misspelt member must not be ignored.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Nothing(_Body):
    """``{}``."""


class ClockChange(_Body):
    """Exactly one of its members."""

    freeze: FiniteFloat | None = Field(
        None, ge=CLOCK_EARLIEST_S, le=CLOCK_LATEST_S, description="Unix seconds to stand still at."
    )
    advance: FiniteFloat | None = Field(None, ge=0, le=CLOCK_LATEST_S, description="Seconds to move forward.")
    real: Literal[True] | None = Field(None, description="Follow the machine's clock again.")

    @model_validator(mode="after")
    def _one(self) -> ClockChange:
        if sum(value is not None for value in (self.freeze, self.advance, self.real)) != 1:
            raise ValueError("give exactly one of freeze, advance, real")
        return self


class FaultOrder(_Body):
    """A failure to inject."""

    part: Part
    status: int | None = Field(None, ge=400, le=599, description="HTTP status; the part's own when absent.")
    delay_ms: int | None = Field(None, ge=0, le=600_000, description="Milliseconds that each call waits first.")
    times: int | None = Field(None, ge=1, le=10**9, description="How many calls; until cleared when absent.")


def _wei(value: Any) -> Any:
    # JSON numbers of many languages end at 2^53, so an amount may come as text.
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


class FaucetOrder(_Body):
    """ETH for an account on the local chain."""

    address: WalletAddress
    wei: Annotated[int, BeforeValidator(_wei)] = Field(10 * 10**18, ge=1, le=10**27, description="How much, in wei.")


class CreditOrder(_Body):
    """Credit without a payment."""

    wallet_address: WalletAddress
    cents: int = Field(ge=1, le=10**9, description="How much, in cents.")


class PaymentOutcome(_Body):
    """The result of a person's action on the payment page."""

    outcome: Literal["succeeded", "failed", "processing"]
    delay_ms: int = Field(0, ge=0, le=86_400_000, description="Milliseconds until it happens.")


class AgentApproval(_Body):
    """The approval of a person on the approval page of the triggers service."""

    challenge: str
    label: str | None = None
    email: str = Field(DEFAULT_EMAIL, description="Whose triggers the client reaches.")


class ContractWalletOrder(_Body):
    """An ERC-1271 wallet to deploy."""

    owner: WalletAddress


class NetworkOrder(_Body):
    """The policy for outbound requests of actions."""

    policy: Literal["allow", "deny", "record", "replay"]
    file: str | None = Field(None, description="The recording, a path on the emulator's machine.")
