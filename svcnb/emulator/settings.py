"""Settings of the emulator, in one table for the command line, the environment and the docs.

A setting comes from the argument, else from the environment as ``SVC_`` + its upper-case name, else its default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator, model_validator

from svcnb.emulator.platform.addresses import AllowedAddress
from svcnb.emulator.platform.clock import checked_time
from svcnb.emulator.platform.origins import parse_origin
from svcnb.protocol.limits import (
    CHAIN_EVENT_SCAN_S,
    DEFAULT_PAGE_SIZE,
    EXECUTION_FUNDS_CHECK_MS,
    KEPT_TRIGGER_RUNS,
    MAX_BODY_BYTES,
    MAX_CONNECTIONS,
    RUN_RETRIES,
    SCHEDULE_SCAN_S,
    WEBHOOK_POSTS_PER_ADDRESS,
    WEBHOOK_POSTS_PER_USER,
    ActionLimits,
)
from svcnb.protocol.vocabulary import Vocabulary

ENVIRONMENT_PREFIX = "SVC_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LIMITS = ActionLimits()
_REMOVED = "block_private_addresses"


class Settings(BaseModel):
    """Settings of one emulator.

    Field descriptions contain the unit. Times are seconds or milliseconds as the name ends, money is cents.

    Raises:
        pydantic.ValidationError: A value is outside its range, or two settings contradict each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,), hide_input_in_errors=True)

    # --- addresses and state ------------------------------------------------------------------------------------
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(0, ge=0, le=65535, description="TCP port; 0 takes a free one.")
    state: Path | None = Field(None, description="Folder that keeps the state; none means memory only.")
    database: str | None = Field(None, description="Database URL; none means SQLite inside the state folder.")
    seed: str | None = Field(None, description="Text that fixes all keys, ids and the contract address.")
    clock: str = Field("real", description="'real', or 'frozen@T' with T in Unix seconds.")
    control_token: str | None = Field(
        None, repr=False, min_length=1, description="Secret of the control plane; none means a new one at each start."
    )

    idle_stop_s: float | None = Field(
        None,
        gt=0,
        description="Seconds without a request after which it stops, and the next start of the state goes on as if it "
        "had not; none means never.",
    )

    # --- names --------------------------------------------------------------------------------------------------
    service_name: str = Field("svc", description="Name of the service in every identifier.")
    processor_name: str = Field("processor", description="Name of the payment processor in every identifier.")

    # --- chain --------------------------------------------------------------------------------------------------
    chain_rpc: str | None = Field(None, description="JSON-RPC URL of a chain to use instead of the built-in one.")
    chain_engine: Literal["anvil", "ethereumjs"] = Field(
        "anvil", description="What runs the built-in chain: anvil, or ethereumjs where anvil has no binary."
    )
    chain_id: int = Field(31337, ge=1, description="Chain id of the built-in chain.")
    chain_name: str = Field("svcnb local chain", description="Chain name in get_node_chain_config.")
    chain_block_time_ms: int = Field(0, ge=0, description="Milliseconds a managed write waits; 0 is at once.")
    chain_memory_mb: int = Field(2048, ge=256, description="Memory ceiling of the built-in chain, in MiB.")
    api_payers: int = Field(3, ge=1, le=64, description="How many payer wallets relay managed writes.")

    # --- permissions --------------------------------------------------------------------------------------------
    master_key_may_execute: bool = Field(default=True, description="Whether the account key may run actions.")
    wildcard_wallet_requires_group: bool = Field(
        default=False, description="Whether execute_in_groups [0] needs a group per wallet."
    )
    enforce_expiration: bool = Field(default=True, description="Whether an expired usage key is refused.")
    grant_delay_ms: int = Field(0, ge=0, description="Milliseconds until a new key or grant becomes effective.")
    grant_delay_jitter_ms: int = Field(0, ge=0, description="Largest random addition to grant_delay_ms.")

    # --- money --------------------------------------------------------------------------------------------------
    billing_enabled: bool = Field(default=True, description="False: nothing costs, and the billing routes answer 503.")
    starter_credits: int = Field(0, ge=0, description="Cents that a new account starts with.")
    charge_failed_runs: bool = Field(
        default=False, description="Whether an execution that ends in an error is charged."
    )
    funds_check_ms: int = Field(
        EXECUTION_FUNDS_CHECK_MS, ge=1, description="Milliseconds of a run between looks at whether its credit lasts."
    )
    charge_convert: bool = Field(
        default=False, description="Whether conversion to ChainSecured costs a management call."
    )
    crypto_delay_ms: int = Field(60_000, ge=0, description="Milliseconds a crypto payment takes to be confirmed.")

    # --- execution ----------------------------------------------------------------------------------------------
    action_engine: Literal["v8", "fast", "auto"] = Field(
        "v8", description="What runs actions: v8 is exact, fast is for volume, auto is fast where that is exact."
    )
    action_spares: int | None = Field(
        None, ge=1, le=64, description="Warmed processes of v8 kept ready; none means 3, and 1 with auto."
    )
    action_concurrency: int = Field(16, ge=1, description="Executions at once; more wait in line.")
    action_timeout_ms: int = Field(_LIMITS.timeout_ms, ge=1, description="Longest run, in milliseconds.")
    action_memory_limit_mb: int = Field(_LIMITS.memory_limit_mb, ge=16, description="Largest heap, in MiB.")
    action_max_code_length: int = Field(_LIMITS.max_code_length, ge=1, description="Largest source, in bytes.")
    action_max_response_length: int = Field(
        _LIMITS.max_response_length, ge=1, description="Largest response, in bytes."
    )
    action_max_console_log_length: int = Field(
        _LIMITS.max_console_log_length, ge=1, description="Most console output, in bytes."
    )
    action_max_fetch_count: int = Field(_LIMITS.max_fetch_count, ge=0, description="Most outbound requests of a run.")
    action_max_get_keys_count: int = Field(
        _LIMITS.max_get_keys_count, ge=0, description="Most key operations of a run."
    )
    action_max_fetch_bytes: int = Field(_LIMITS.max_fetch_bytes, ge=1, description="Largest outbound answer, in bytes.")
    action_fetch_timeout_ms: int = Field(_LIMITS.fetch_timeout_ms, ge=1, description="Longest outbound request.")
    action_packages: Path | None = Field(None, description="Folder of packages that actions may import.")
    network_policy: Literal["allow", "deny", "record", "replay"] = Field(
        "allow", description="Outbound requests of actions."
    )
    network_file: Path | None = Field(None, description="Recording that record writes and replay reads.")
    recordings: Path | None = Field(
        None, description="Folder of all recordings that the control plane may choose; none means any file."
    )
    allow_address: tuple[AllowedAddress, ...] = Field(
        (), description="Addresses HOST[:PORT] that actions may reach beside the public internet, comma-separated."
    )
    load_shedding: bool = Field(default=False, description="Whether executions are answered 429 under CPU pressure.")
    cpu_overload_multiplier: float = Field(2.0, gt=0, description="Load average per core above which load is shed.")
    cpu_psi_threshold: float = Field(
        50.0, gt=0, le=100, description="CPU pressure stall percent above which load is shed."
    )

    # --- HTTP ---------------------------------------------------------------------------------------------------
    max_body_bytes: int = Field(MAX_BODY_BYTES, ge=1024, description="Largest request body, in bytes.")
    max_connections: int = Field(
        MAX_CONNECTIONS, ge=1, description="Most HTTP connections at once; more are answered 503 with Retry-After."
    )
    default_page_size: int = Field(DEFAULT_PAGE_SIZE, ge=1, description="page_size when the caller gives none.")
    max_page_size: int | None = Field(None, ge=1, description="Largest page_size; none means any.")
    strict_paging: bool = Field(default=False, description="Whether a page beyond the end is always empty.")
    preset: Literal["tolerant", "strict"] = Field(
        "tolerant", description="strict: requests that the live service refuses are refused here too."
    )
    strict_types: bool | None = Field(
        None,
        description="Whether only the live service's exact JSON types and members are accepted; none means as preset.",
    )
    new_account_burst: int | None = Field(
        None, ge=1, description="new_account calls an address may make at once; none means any."
    )

    allow_origin: tuple[str, ...] = Field(
        (), description="Origins of other web pages that may use the service, comma-separated; * for every page."
    )

    # --- triggers -----------------------------------------------------------------------------------------------
    auto_approve_agents: bool = Field(default=False, description="Whether a triggers token is approved without a page.")
    schedule_scan_s: float = Field(SCHEDULE_SCAN_S, gt=0, description="Seconds between looks at the schedules.")
    chain_event_scan_s: float = Field(CHAIN_EVENT_SCAN_S, gt=0, description="Seconds between looks at each chain.")
    chain_confirmations: int | None = Field(
        None, ge=0, description="Blocks on top of a log; none means 12, and 0 on the built-in chain."
    )
    rpc_ethereum: str | None = Field(None, repr=False, description="JSON-RPC URL; none means the built-in chain.")
    rpc_base: str | None = Field(None, repr=False, description="JSON-RPC URL; none means the built-in chain.")
    rpc_arbitrum: str | None = Field(None, repr=False, description="JSON-RPC URL; none means the built-in chain.")
    rpc_bsc: str | None = Field(None, repr=False, description="JSON-RPC URL; none means the built-in chain.")
    rpc_polygon: str | None = Field(None, repr=False, description="JSON-RPC URL; none means the built-in chain.")
    run_max_retries: int = Field(RUN_RETRIES, ge=0, le=100, description="Retries of a run after its first attempt.")
    retry_thrown_actions: bool = Field(default=False, description="Whether a run whose action throws is tried again.")
    expose_retrying: bool = Field(
        default=False, description="Whether a run that waits to be retried is shown as retrying."
    )
    trigger_workers: int | None = Field(None, ge=1, description="Most runs at once; none means one for each trigger.")
    kept_trigger_runs: int = Field(
        KEPT_TRIGGER_RUNS, ge=1, description="Ended runs of a trigger that are kept; the oldest give way, 64 at a time."
    )
    trigger_timeout_ms: int | None = Field(
        None, ge=1, description="Milliseconds until a run's attempt is given up; none means as long as any execution."
    )
    trigger_execution_url: str | None = Field(
        None, description="Address of another service that executes the runs; none means this emulator."
    )
    webhook_posts_per_address: int | None = Field(
        WEBHOOK_POSTS_PER_ADDRESS, ge=1, description="Webhook posts of one address in any 60 s."
    )
    webhook_posts_per_user: int | None = Field(
        WEBHOOK_POSTS_PER_USER, ge=1, description="Webhook posts to one owner's triggers in any 60 s."
    )

    @field_validator("allow_address", mode="before")
    @classmethod
    def _addresses(cls, given: object) -> object:
        """Reads text with commas, the form of the environment, and sequences of texts."""
        parts = given.split(",") if isinstance(given, str) else given
        if not isinstance(parts, list | tuple):
            raise ValueError("allow_address is a list of texts HOST[:PORT]")  # noqa: TRY004 - pydantic expects it
        return tuple(
            AllowedAddress.parse(part) if isinstance(part, str) else part
            for part in parts
            if not isinstance(part, str) or part.strip()
        )

    @field_validator("allow_origin", mode="before")
    @classmethod
    def _origins(cls, given: object) -> object:
        """Same as `_addresses`."""
        parts = given.split(",") if isinstance(given, str) else given
        if not isinstance(parts, list | tuple):
            raise ValueError("allow_origin is a list of texts SCHEME://HOST[:PORT]")  # noqa: TRY004 - as above
        return tuple(parse_origin(str(part)) for part in parts if str(part).strip())

    @field_serializer("allow_address")
    def _addresses_as_text(self, allowed: tuple[AllowedAddress, ...]) -> list[str]:
        return [str(each) for each in allowed]

    @model_validator(mode="before")
    @classmethod
    def _without_removed(cls, given: Any) -> Any:
        if isinstance(given, dict) and _REMOVED in given:
            rest = {name: value for name, value in given.items() if name != _REMOVED}
            if str(given[_REMOVED]).lower() not in {"true", "1", "yes", "on"}:
                raise ValueError(
                    f"{_REMOVED} was removed: actions never reach private addresses unless allow_address names one, "
                    "for example allow_address 127.0.0.1:8545"
                )
            return rest  # its effect is the default now
        return given

    @model_validator(mode="after")
    def _safe_together(self) -> Settings:
        # The derived values are created here, so that an invalid name or clock is refused at start, not at first use.
        _ = self.vocabulary, self.frozen_at
        if self.host not in LOOPBACK and self.seed is not None:
            raise ValueError(
                f"host {self.host!r} is not loopback, and a seeded emulator has keys that anyone can compute: "
                "leave out seed, or listen on 127.0.0.1"
            )
        if self.idle_stop_s is not None and self.state is None:
            raise ValueError("idle_stop_s needs state, the folder that keeps what the next start goes on with")
        if self.network_policy in {"record", "replay"} and self.network_file is None:
            raise ValueError(f"network_policy {self.network_policy!r} needs network_file, the recording's path")
        return self

    @property
    def is_private(self) -> bool:
        """Whether it serves only programs and people on this machine, without a proxy that the user configured."""
        return self.host in LOOPBACK and self.control_token is None

    @property
    def keeps_state(self) -> bool:
        """Whether the state of an earlier start may exist."""
        return self.state is not None or self.database is not None

    @property
    def exact_types(self) -> bool:
        """Whether only the live service's exact JSON types and members are accepted."""
        return self.preset == "strict" if self.strict_types is None else self.strict_types

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The two names and all names that are derived from them."""
        return Vocabulary(service=self.service_name, processor=self.processor_name)

    @cached_property
    def frozen_at(self) -> float | None:
        """Unix seconds at which the clock is frozen, or None."""
        if self.clock == "real":
            return None
        word, at, seconds = self.clock.partition("@")
        try:
            if word == "frozen" and at:
                return checked_time(float(seconds))
        except ValueError as error:
            raise ValueError(f"clock {self.clock!r}: {error}") from None
        raise ValueError(f"clock {self.clock!r} is not known: write 'real' or 'frozen@' and Unix seconds")

    @cached_property
    def limits(self) -> ActionLimits:
        """Limits of one execution."""
        return ActionLimits(
            timeout_ms=self.action_timeout_ms,
            memory_limit_mb=self.action_memory_limit_mb,
            max_code_length=min(self.action_max_code_length, self.max_body_bytes),
            max_response_length=self.action_max_response_length,
            max_console_log_length=self.action_max_console_log_length,
            max_fetch_count=self.action_max_fetch_count,
            max_get_keys_count=self.action_max_get_keys_count,
            max_fetch_bytes=self.action_max_fetch_bytes,
            fetch_timeout_ms=self.action_fetch_timeout_ms,
        )

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, /, **given: Any) -> Settings:
        """Settings from arguments, then the environment, then defaults.

        Args:
            environment: The environment to read, the process environment when None.
            **given: Settings by name; None counts as not given.

        Returns:
            The checked settings.

        Raises:
            pydantic.ValidationError: A value cannot be used, or an argument is not a setting.
        """
        source = os.environ if environment is None else environment
        found = {
            name: value
            for name in (*cls.model_fields, _REMOVED)
            if (value := source.get(ENVIRONMENT_PREFIX + name.upper())) not in (None, "")
        }
        return cls.model_validate(found | {name: value for name, value in given.items() if value is not None})
