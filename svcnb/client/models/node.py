"""Models of a node's chain, version, health and limits."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from svcnb.client.models.base import Model


class ChainConfig(Model):
    """Chain that contains the accounts."""

    chain_id: int
    contract_address: str
    chain_name: str = ""
    is_evm: bool = True
    testnet: bool = False
    token: str = ""

    rpc_url: str | None = None
    """JSON-RPC address. Only the emulator reports it. For other services, the caller must set it."""

    quiet: ClassVar[frozenset[str]] = frozenset({"rpc_url"})


class Version(Model):
    """Version of the service's software."""

    name: str = ""
    version: str = ""
    commit_version: str = ""


class Health(Model):
    """Health of a node."""

    healthy: bool
    """True if the node responded with status 200: the action runtime is reachable, and the CPU is not overloaded."""

    cpu_available: bool | None = None
    billing_keys_present: bool | None = None


class Limits(Model):
    """Limits of one execution."""

    timeout_ms: int
    """Maximum duration of a run, in milliseconds of wall-clock time."""

    memory_limit_mb: int
    max_code_length: int
    max_response_length: int
    max_console_log_length: int
    max_fetch_count: int
    max_get_keys_count: int
    max_retries: int = Field(default=0)
    async_timeout_ms: int = Field(default=0)
    client_timeout_ms_buffer: int = Field(default=0)
