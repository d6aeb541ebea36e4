"""Request bodies of the control plane."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, model_validator

from svcnb.emulator.platform.faults import Part
from svcnb.emulator.triggers.identity import DEFAULT_EMAIL
from svcnb.protocol.limits import CLOCK_EARLIEST_S, CLOCK_LATEST_S, MAX_CREDIT_CENTS
from svcnb.protocol.wire.values import WalletAddress


class _Body(BaseModel):
    # Unlike in the service's own requests, a misspelt field is an error.
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Nothing(_Body):
    """Request body without fields: ``{}``."""


class ClockChange(_Body):
    """Request to change the emulator's clock, with exactly one field."""

    freeze: FiniteFloat | None = Field(
        None, ge=CLOCK_EARLIEST_S, le=CLOCK_LATEST_S, description="Time at which to freeze the clock, in Unix seconds."
    )
    advance: FiniteFloat | None = Field(
        None, ge=0, le=CLOCK_LATEST_S, description=("Number of seconds by which to advance the clock.")
    )
    real: Literal[True] | None = Field(None, description="If true, the clock returns to the machine's time.")

    @model_validator(mode="after")
    def _one(self) -> ClockChange:
        given = sum(value is not None for value in (self.freeze, self.advance, self.real))
        if given != 1:
            raise ValueError(f"expected exactly one of the fields 'freeze', 'advance' and 'real', got {given} fields")
        return self


class FaultRequest(_Body):
    """Request to inject a fault into one part of the service."""

    part: Part
    status: int | None = Field(
        None,
        ge=400,
        le=599,
        description=(
            "HTTP status of the response. The default is 429 for cpu and 503 for other parts. If only delay_ms is set, "
            "the calls succeed after the delay."
        ),
    )
    delay_ms: int | None = Field(None, ge=0, le=600_000, description="Delay before each call, in milliseconds.")
    times: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description=(
            "Number of calls that the fault affects. By default, the fault affects all calls until its deletion."
        ),
    )


def _wei(value: Any) -> Any:
    # Many languages limit JSON numbers to 2^53, so an amount can also be a string.
    return int(value) if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() else value


class FaucetRequest(_Body):
    """Request to add ether to an account on the emulator's own chain."""

    address: WalletAddress
    wei: Annotated[int, BeforeValidator(_wei)] = Field(10 * 10**18, ge=1, le=10**27, description="Amount in wei.")


class CreditRequest(_Body):
    """Request to add credit to an account without a payment."""

    wallet_address: WalletAddress
    cents: int = Field(ge=1, le=MAX_CREDIT_CENTS, description="Amount in cents.")


class PaymentOutcome(_Body):
    """Request to set the outcome of a payment."""

    outcome: Literal["succeeded", "failed", "processing"]
    delay_ms: int = Field(0, ge=0, le=86_400_000, description="Delay before the outcome, in milliseconds.")


class AgentApproval(_Body):
    """Request to approve the token of a client for the triggers service."""

    challenge: str
    label: str | None = None
    email: str = Field(DEFAULT_EMAIL, description="E-mail address of the user whose triggers the client can use.")


class ContractWalletRequest(_Body):
    """Request to deploy a contract wallet (ERC-1271)."""

    owner: WalletAddress


class NetworkRequest(_Body):
    """Request to set the policy for outbound requests of actions."""

    policy: Literal["allow", "deny", "record", "replay"]
    file: str | None = Field(
        None, description="Path of the recording on the emulator's machine, for record and replay."
    )
