"""Models of a node's chain, version, health and limits."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from svcnb.client.models.base import Model


class ChainConfig(Model):
    """Blockchain on which the service stores the accounts."""

    chain_id: int
    """Chain id (EIP-155), which every signed envelope and every transaction contains."""

    contract_address: str
    """Address of the AccountConfig contract."""

    chain_name: str = ""
    """Name of the chain for display. Programs identify the chain by ``chain_id``."""

    is_evm: bool = True
    """Whether the chain runs the Ethereum Virtual Machine."""

    testnet: bool = False
    """Whether the chain is a test network, whose currency has no value."""

    token: str = ""
    """Symbol of the chain's native currency, for example ``ETH``."""

    rpc_url: str | None = None
    """JSON-RPC address of a chain node. Only the emulator returns this address. For other services, the value is None,
    and the caller must pass ``rpc_url`` to the client."""

    quiet: ClassVar[frozenset[str]] = frozenset({"rpc_url"})


class Version(Model):
    """Version of the service's software."""

    name: str = ""
    """Name of the software, for example ``svcnb emulator``."""

    version: str = ""
    """Version number of the software. Empty if the service does not report this value."""

    commit_version: str = ""
    """Git commit of the software. The emulator returns its version number instead."""


class Health(Model):
    """Health of a node."""

    healthy: bool
    """True if the node responded with status 200: the action runtime is reachable, and the CPU is not overloaded."""

    cpu_available: bool | None = None
    """Whether the node has free CPU time. None if the node does not report this value."""

    billing_keys_present: bool | None = None
    """Whether the node is configured for payments. None if the node does not report this value."""


class Limits(Model):
    """Limits of one run."""

    timeout_ms: int
    """Maximum duration of a run, in milliseconds of wall-clock time."""

    memory_limit_mb: int
    """Maximum heap size in MiB."""

    max_code_length: int
    """Maximum size of the source in bytes."""

    max_response_length: int
    """Maximum size of the response as text, in bytes."""

    max_console_log_length: int
    """Maximum size of the console output in bytes."""

    max_fetch_count: int
    """Maximum number of outbound requests."""

    max_get_keys_count: int
    """Maximum number of key operations."""

    max_retries: int = Field(default=0)
    """Maximum number of attempts to reach the action runtime. 0 if the service does not report this value."""

    async_timeout_ms: int = Field(default=0)
    """Maximum duration of an asynchronous run, in milliseconds. 0 if the service does not report this value."""

    client_timeout_ms_buffer: int = Field(default=0)
    """Time that a client waits in addition to ``timeout_ms``, in milliseconds. 0 if the service does not report this
    value."""
