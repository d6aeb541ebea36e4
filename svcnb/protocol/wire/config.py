"""Models for the public information about a service. A caller can read this information without a credential."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, WithJsonSchema

from svcnb.protocol.wire.base import Response

# The schema does not use prefixItems, because some generators of clients and tests do not support it.
_Pair: TypeAlias = Annotated[
    tuple[str, str],
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
]


class NodeChainConfig(Response):
    """Response of ``get_node_chain_config``: the chain and the contract that the service uses."""

    chain_name: str = ""
    chain_id: int
    is_evm: bool = True
    testnet: bool = True
    token: str = Field("ETH", description="Symbol of the chain's native currency.")
    contract_address: str = Field(description="Address of the AccountConfig contract.")
    rpc_url: str | None = Field(None, description="JSON-RPC URL of the chain. Only an emulator returns this URL.")


class ChainConfigKeys(Response):
    """Response of ``get_chain_config_keys``: the names of the settings that the service reads from the chain."""

    keys: list[str] = Field(description="Names of the values that the node reads from its on-chain configuration.")


class ActionClientConfig(Response):
    """Response of the ``..._client_config`` endpoint: limits of one run, and the time that a client waits for a run.

    `svcnb.protocol.limits.ActionLimits` describes the fields and their units.
    """

    timeout_ms: int
    async_timeout_ms: int
    memory_limit_mb: int
    max_code_length: int
    max_response_length: int
    max_console_log_length: int
    max_fetch_count: int
    max_get_keys_count: int
    max_retries: int
    client_timeout_ms_buffer: int


class VersionResponse(Response):
    """Response of ``version``: name and versions of the software of the service."""

    name: str
    version: str
    commit_version: str
    submodule_versions: list[_Pair] = Field([], description="Pairs of a name and a version.")
