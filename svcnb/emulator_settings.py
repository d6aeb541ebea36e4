"""Settings of an emulator as keyword arguments. Written by `.ci/emulator_settings.py`; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict


class EmulatorSettings(TypedDict, total=False):
    """Keyword arguments of `svcnb.Emulator`; ``svcnb emulator --help`` lists them with their defaults."""

    host: str
    port: int
    state: str | Path | None
    database: str | None
    seed: str | None
    clock: str
    control_token: str | None
    idle_stop_s: float | None
    service_name: str
    processor_name: str
    chain_rpc: str | None
    chain_engine: Literal["anvil", "ethereumjs"]
    chain_id: int
    chain_name: str
    chain_block_time_ms: int
    chain_memory_mb: int
    api_payers: int
    master_key_may_execute: bool
    wildcard_wallet_requires_group: bool
    enforce_expiration: bool
    grant_delay_ms: int
    grant_delay_jitter_ms: int
    billing_enabled: bool
    starter_credits: int
    charge_failed_runs: bool
    funds_check_ms: int
    charge_convert: bool
    crypto_delay_ms: int
    action_engine: Literal["v8", "fast", "auto"]
    action_spares: int | None
    action_concurrency: int
    action_timeout_ms: int
    action_memory_limit_mb: int
    action_max_code_length: int
    action_max_response_length: int
    action_max_console_log_length: int
    action_max_fetch_count: int
    action_max_get_keys_count: int
    action_max_fetch_bytes: int
    action_fetch_timeout_ms: int
    action_packages: str | Path | None
    network_policy: Literal["allow", "deny", "record", "replay"]
    network_file: str | Path | None
    recordings: str | Path | None
    allow_address: Sequence[str] | str
    load_shedding: bool
    cpu_overload_multiplier: float
    cpu_psi_threshold: float
    max_body_bytes: int
    max_connections: int
    default_page_size: int
    max_page_size: int | None
    strict_paging: bool
    preset: Literal["tolerant", "strict"]
    strict_types: bool | None
    new_account_burst: int | None
    allow_origin: Sequence[str] | str
    auto_approve_agents: bool
    schedule_scan_s: float
    chain_event_scan_s: float
    chain_confirmations: int | None
    rpc_ethereum: str | None
    rpc_base: str | None
    rpc_arbitrum: str | None
    rpc_bsc: str | None
    rpc_polygon: str | None
    run_max_retries: int
    retry_thrown_actions: bool
    expose_retrying: bool
    trigger_workers: int | None
    kept_trigger_runs: int
    trigger_timeout_ms: int | None
    trigger_execution_url: str | None
    webhook_posts_per_address: int | None
    webhook_posts_per_user: int | None
