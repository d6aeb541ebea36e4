"""Settings of the emulator, defined once for the command line, the environment and the docs.

The value of a setting is the argument, otherwise the environment variable ``SVC_NAME`` (with the setting's name in
uppercase), otherwise the default. `Settings.load` implements this order itself, because the import of
pydantic-settings takes 40 milliseconds, a tenth of the start-up time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_serializer, field_validator, model_validator

from svcnb.emulator.platform.addresses import AllowedAddress
from svcnb.emulator.platform.clock import checked_time
from svcnb.emulator.platform.origins import parse_origin
from svcnb.protocol import limits as defaults
from svcnb.protocol.vocabulary import Vocabulary

ENVIRONMENT_PREFIX = "SVC_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LIMITS = defaults.ActionLimits()


def _rpc(chain: str) -> Any:
    text = f"JSON-RPC URL of the chain {chain} for triggers. If not set, triggers use the emulator's own chain."
    return Field(None, repr=False, description=text)


class Settings(BaseModel):
    """Settings of one emulator.

    Field descriptions contain the unit. The suffix of a name shows seconds (``_s``) or milliseconds (``_ms``). Money is
    in cents.

    Raises:
        pydantic.ValidationError: A value is outside its range, or two settings contradict each other.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", ignored_types=(cached_property,), hide_input_in_errors=True
    )

    # --- addresses and state ------------------------------------------------------------------------------------
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(0, ge=0, le=65535, description="TCP port. 0 selects a free port.")
    state: Path | None = Field(
        None, description="Folder for the state. If not set, the emulator stores the state only in memory."
    )
    database: str | None = Field(
        None, description="Database URL. If not set, the emulator uses SQLite in the state folder."
    )
    seed: str | None = Field(
        None,
        description="Text that determines all keys, all ids and the contract address. If not set, these are random.",
    )
    clock: str = Field("real", description="Clock of the emulator: 'real', or 'frozen@T' with T in Unix seconds.")
    control_token: str | None = Field(
        None,
        repr=False,
        min_length=1,
        description="Token that requests to the control plane must contain. If not set, the token is random.",
    )

    idle_stop_s: float | None = Field(
        None,
        gt=0,
        description=(
            "The emulator stops after this number of seconds without requests. The next start continues with the "
            "same state. If not set, the emulator does not stop."
        ),
    )

    # --- names --------------------------------------------------------------------------------------------------
    service_name: str = Field("svc", description="Name of the service, used in all identifiers.")
    processor_name: str = Field("processor", description="Name of the payment processor, used in all identifiers.")

    # --- chain --------------------------------------------------------------------------------------------------
    chain_rpc: str | None = Field(None, description="JSON-RPC URL of a chain that replaces the emulator's own chain.")
    chain_engine: Literal["anvil", "ethereumjs"] = Field(
        "anvil", description="Engine of the emulator's own chain: anvil, or ethereumjs on platforms without anvil."
    )
    chain_id: int = Field(31337, ge=1, description="Chain id of the emulator's own chain.")
    chain_name: str = Field("svcnb local chain", description="Chain name in get_node_chain_config.")
    chain_block_time_ms: int = Field(0, ge=0, description="Delay of a write in API mode, in milliseconds.")
    chain_memory_mb: int = Field(2048, ge=256, description="Maximum memory of the emulator's own chain, in MiB.")
    api_payers: int = Field(3, ge=1, le=64, description="Number of payer wallets that send the writes of API mode.")

    # --- permissions --------------------------------------------------------------------------------------------
    master_key_may_execute: bool = Field(default=True, description="Whether the account key can run actions.")
    wildcard_wallet_requires_group: bool = Field(
        default=False,
        description="Whether a key with execute_in_groups [0] can use a wallet only if a group permits the wallet.",
    )
    enforce_expiration: bool = Field(default=True, description="Whether the service rejects expired usage keys.")
    grant_delay_ms: int = Field(
        0, ge=0, description="Delay until a new key or permission takes effect, in milliseconds."
    )
    grant_delay_jitter_ms: int = Field(
        0, ge=0, description="Maximum random delay in addition to grant_delay_ms, in milliseconds."
    )

    # --- money --------------------------------------------------------------------------------------------------
    billing_enabled: bool = Field(
        default=True, description="Whether calls cost credit. If false, billing endpoints return 503."
    )
    starter_credits: int = Field(
        0, ge=0, le=defaults.MAX_CREDIT_CENTS, description="Credit of a new account, in cents."
    )
    charge_failed_runs: bool = Field(
        default=False, description="Whether a failed run costs credit, unless the service itself failed."
    )
    funds_check_ms: int = Field(
        defaults.EXECUTION_FUNDS_CHECK_MS,
        ge=1,
        description="Interval between credit checks during a run, in milliseconds.",
    )
    charge_convert: bool = Field(
        default=False, description="Whether the conversion to ChainSecured costs as much as a management call."
    )
    crypto_delay_ms: int = Field(60_000, ge=0, description="Confirmation time of a crypto payment, in milliseconds.")

    # --- execution ----------------------------------------------------------------------------------------------
    action_engine: Literal["v8", "fast", "auto"] = Field(
        "auto",
        description="Engine for actions: v8, fast, or auto. auto uses fast for runs that fast can execute exactly like "
        "v8, and v8 for all other runs.",
    )
    action_spares: int | None = Field(
        None,
        ge=1,
        le=64,
        description="Number of warmed-up v8 processes. By default, 3 for the engine v8, and 1 while auto uses v8.",
    )
    action_concurrency: int = Field(
        16, ge=1, description="Maximum number of concurrent runs. Other runs wait in a queue."
    )
    action_timeout_ms: int = Field(_LIMITS.timeout_ms, ge=1, description="Maximum duration of a run, in milliseconds.")
    action_memory_limit_mb: int = Field(_LIMITS.memory_limit_mb, ge=16, description="Heap limit of a run, in MiB.")
    action_max_code_length: int = Field(
        _LIMITS.max_code_length, ge=1, description="Maximum size of an action's source, in bytes."
    )
    action_max_response_length: int = Field(
        _LIMITS.max_response_length, ge=1, description="Maximum size of an action's response, in bytes."
    )
    action_max_console_log_length: int = Field(
        _LIMITS.max_console_log_length, ge=1, description="Maximum size of a run's console output, in bytes."
    )
    action_max_fetch_count: int = Field(
        _LIMITS.max_fetch_count, ge=0, description="Maximum number of outbound requests per run."
    )
    action_max_get_keys_count: int = Field(
        _LIMITS.max_get_keys_count, ge=0, description="Maximum number of key operations per run."
    )
    action_max_fetch_bytes: int = Field(
        _LIMITS.max_fetch_bytes, ge=1, description="Maximum size of a response to an outbound request, in bytes."
    )
    action_fetch_timeout_ms: int = Field(
        _LIMITS.fetch_timeout_ms, ge=1, description="Maximum duration of an outbound request, in milliseconds."
    )
    action_packages: Path | None = Field(None, description="Folder of packages that actions can import.")
    network_policy: Literal["allow", "deny", "record", "replay"] = Field(
        "allow", description="Policy for outbound requests of actions."
    )
    network_file: Path | None = Field(
        None, description="File that the policy 'record' writes and the policy 'replay' reads."
    )
    recordings: Path | None = Field(
        None,
        description="Folder of the recordings that the control plane can select. If not set, all files are allowed.",
    )
    allow_address: tuple[AllowedAddress, ...] = Field(
        (),
        description="Addresses HOST[:PORT] that actions can access in addition to public addresses, comma-separated.",
    )
    load_shedding: bool = Field(
        default=False, description="Whether the emulator rejects runs with 429 while the CPU is overloaded."
    )
    cpu_overload_multiplier: float = Field(
        2.0, gt=0, description="Load average per core above which the CPU is overloaded."
    )
    cpu_psi_threshold: float = Field(
        50.0, gt=0, le=100, description="Percentage of CPU pressure (PSI) above which the CPU is overloaded."
    )

    # --- HTTP ---------------------------------------------------------------------------------------------------
    max_body_bytes: int = Field(
        defaults.MAX_BODY_BYTES, ge=1024, description="Maximum size of a request body, in bytes."
    )
    max_connections: int = Field(
        defaults.MAX_CONNECTIONS,
        ge=1,
        description="Maximum number of HTTP connections. Additional connections receive 503 with Retry-After.",
    )
    default_page_size: int = Field(
        defaults.DEFAULT_PAGE_SIZE, ge=1, description="Value of page_size in requests without page_size."
    )
    max_page_size: int | None = Field(None, ge=1, description="Maximum page_size. If not set, there is no limit.")
    strict_paging: bool = Field(default=False, description="Whether a page after the last page is always empty.")
    preset: Literal["tolerant", "strict"] = Field(
        "tolerant", description="Set of defaults. strict also rejects all requests that the live service rejects."
    )
    strict_types: bool | None = Field(
        None,
        description=(
            "Whether the emulator accepts only the exact JSON types and fields of the live "
            "service. If not set, the preset decides."
        ),
    )
    new_account_burst: int | None = Field(
        None,
        ge=1,
        description="Maximum number of new_account calls per minute from an IP address. If not set, there is no limit.",
    )

    allow_origin: tuple[str, ...] = Field(
        (), description="Origins of other web pages that can use the service, comma-separated. * allows every page."
    )

    # --- triggers -----------------------------------------------------------------------------------------------
    auto_approve_agents: bool = Field(
        default=False, description="Whether the emulator approves tokens of the triggers service automatically."
    )
    schedule_scan_s: float = Field(
        defaults.SCHEDULE_SCAN_S, gt=0, description="Interval between scans of the schedules, in seconds."
    )
    chain_event_scan_s: float = Field(
        defaults.CHAIN_EVENT_SCAN_S, gt=0, description="Interval between scans of each chain, in seconds."
    )
    chain_confirmations: int | None = Field(
        None,
        ge=0,
        description="Number of confirmations before a log fires a trigger. If not set, the number is 12, or 0 on the "
        "emulator's own chain.",
    )
    rpc_ethereum: str | None = _rpc("ethereum")
    rpc_base: str | None = _rpc("base")
    rpc_arbitrum: str | None = _rpc("arbitrum")
    rpc_bsc: str | None = _rpc("bsc")
    rpc_polygon: str | None = _rpc("polygon")
    run_max_retries: int = Field(defaults.RUN_RETRIES, ge=0, le=100, description="Maximum retries of a trigger run.")
    retry_thrown_actions: bool = Field(default=False, description="Whether to retry a trigger run whose action throws.")
    expose_retrying: bool = Field(
        default=False, description="Whether a trigger run that waits for a retry has the status retrying."
    )
    trigger_workers: int | None = Field(
        None,
        ge=1,
        description="Maximum number of trigger runs at the same time. If not set, each trigger has one worker.",
    )
    kept_trigger_runs: int = Field(
        defaults.KEPT_TRIGGER_RUNS,
        ge=1,
        description=(
            "Number of ended runs to store per trigger. After every 64 ended runs, the emulator deletes older runs."
        ),
    )
    trigger_timeout_ms: int | None = Field(
        None,
        ge=1,
        description="Time limit of one attempt of a trigger run, in milliseconds. If not set, the time limit of "
        "runs applies.",
    )
    trigger_execution_url: str | None = Field(
        None, description="URL of another service that executes trigger runs. If not set, this emulator executes them."
    )
    webhook_posts_per_address: int | None = Field(
        defaults.WEBHOOK_POSTS_PER_ADDRESS,
        ge=1,
        description="Maximum number of webhook requests from one IP address in any 60 s.",
    )
    webhook_posts_per_user: int | None = Field(
        defaults.WEBHOOK_POSTS_PER_USER,
        ge=1,
        description="Maximum number of webhook requests to the triggers of one owner in any 60 s.",
    )

    @field_validator("allow_address", "allow_origin", mode="before")
    @classmethod
    def _listed(cls, given: object, info: ValidationInfo) -> object:
        """Parses comma-separated text from the environment, or a sequence of strings."""
        parts = given.split(",") if isinstance(given, str) else given
        if not isinstance(parts, list | tuple):
            form = "HOST[:PORT]" if info.field_name == "allow_address" else "SCHEME://HOST[:PORT]"
            raise ValueError(  # noqa: TRY004 - pydantic expects a ValueError
                f"{info.field_name} is {given!r}: expected a list of strings of the form {form}"
            )
        if info.field_name == "allow_origin":
            return tuple(parse_origin(str(part)) for part in parts if str(part).strip())
        given_parts = (part for part in parts if not isinstance(part, str) or part.strip())
        return tuple(AllowedAddress.parse(part) if isinstance(part, str) else part for part in given_parts)

    @field_serializer("allow_address")
    def _addresses_as_text(self, allowed: tuple[AllowedAddress, ...]) -> list[str]:
        return [str(each) for each in allowed]

    @model_validator(mode="after")
    def _safe_together(self) -> Settings:
        # Create the derived values here, so that an invalid name or clock causes an error at the start.
        _ = self.vocabulary, self.frozen_at
        token = self.control_token
        if token is not None and (not (token.isascii() and token.isprintable()) or " " in (token[:1], token[-1:])):
            raise ValueError(
                "control_token contains characters that an HTTP header cannot contain: use printable ASCII characters, "
                "without spaces at the start or the end"
            )
        if self.host not in LOOPBACK and self.seed is not None:
            raise ValueError(
                f"host {self.host!r} is not a loopback address, but seed is set: anyone who guesses the seed can "
                "compute all keys. Omit seed, or set host to 127.0.0.1."
            )
        if self.idle_stop_s is not None and self.state is None:
            raise ValueError(
                "idle_stop_s is set, but state is not: the next start can continue only from a state folder. Set "
                "state, or omit idle_stop_s."
            )
        if self.network_policy in {"record", "replay"} and self.network_file is None:
            raise ValueError(
                f"network_policy {self.network_policy!r} needs the path of the recording: set network_file"
            )
        return self

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach the emulator: it listens on loopback, and no control token is set.

        With a control token in the settings, a proxy can forward requests from other machines.
        """
        return self.host in LOOPBACK and self.control_token is None

    @property
    def keeps_state(self) -> bool:
        """Whether a state from an earlier start can exist."""
        return self.state is not None or self.database is not None

    @property
    def exact_types(self) -> bool:
        """Whether the emulator accepts only the live service's exact JSON types and fields."""
        return self.preset == "strict" if self.strict_types is None else self.strict_types

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The names of the service and the payment processor, and all names derived from these two settings."""
        return Vocabulary(service=self.service_name, processor=self.processor_name)

    @cached_property
    def frozen_at(self) -> float | None:
        """Unix seconds at which the clock is frozen, or None if the clock follows the machine's time."""
        if self.clock == "real":
            return None
        word, at, seconds = self.clock.partition("@")
        try:
            if word == "frozen" and at:
                return checked_time(float(seconds))
        except ValueError as error:
            raise ValueError(
                f"clock {self.clock!r} is not valid: expected 'real', or 'frozen@' followed by Unix seconds ({error})"
            ) from None
        raise ValueError(f"clock {self.clock!r} is not valid: expected 'real', or 'frozen@' followed by Unix seconds")

    @cached_property
    def limits(self) -> defaults.ActionLimits:
        """Limits of one run. The maximum length of a source is at most the maximum size of a request body."""
        return defaults.ActionLimits(
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
        """Loads settings from arguments, environment and defaults, in this order of precedence.

        Args:
            environment: The environment variables. None means the variables of this process.
            **given: Settings by name. None means that the setting is not set.

        Returns:
            The validated settings.

        Raises:
            pydantic.ValidationError: A value is invalid, or an argument is not a setting.
        """
        source = os.environ if environment is None else environment
        found = {
            name: value
            for name in cls.model_fields
            if (value := source.get(ENVIRONMENT_PREFIX + name.upper())) not in (None, "")
        }
        return cls.model_validate(found | {name: value for name, value in given.items() if value is not None})
