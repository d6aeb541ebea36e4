"""What the service tells about itself without a credential."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.responses import Response

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import answer
from svcnb.emulator.http.endpoint import API, Call, Endpoint
from svcnb.protocol.wire.config import ActionClientConfig, ChainConfigKeys, NodeChainConfig, VersionResponse

_TAG: Final = "Configuration"
_NODE_KEYS: Final = (
    "REFRESH_INTERVAL_SECS",
    "ROCKET_WORKERS_SMALL",
    "ROCKET_WORKERS_MEDIUM",
    "ROCKET_WORKERS_LARGE",
    "ROCKET_FILE_SIZE_LIMIT_MB",
    "API_COST_CENTS_MANAGEMENT",
)
_LIMIT_KEYS: Final = (
    "MEMORY_LIMIT_MB",
    "TIMEOUT_MS",
    "ASYNC_TIMEOUT_MS",
    "CLIENT_TIMEOUT_MS_BUFFER",
    "MAX_CODE_LENGTH",
    "MAX_CONSOLE_LOG_LENGTH",
    "MAX_FETCH_COUNT",
    "MAX_RESPONSE_LENGTH",
    "MAX_GET_KEYS_COUNT",
    "MAX_RETRIES",
)
_UNHEALTHY: Final = frozenset({503})
_PUBLIC_CHAINS: Final = frozenset({8453})


def endpoints(limits_path: str) -> list[Endpoint]:
    """The rows of this noun.

    Args:
        limits_path: Path of the execution limits, which carries the service's name.
    """
    return [
        Endpoint("GET", f"{API}/get_node_chain_config", chain_config, response=NodeChainConfig, tag=_TAG),
        Endpoint("GET", f"{API}/get_api_payers", api_payers, response=list[str], tag=_TAG),
        Endpoint("GET", f"{API}/get_admin_api_payer", admin_api_payer, response=str, tag=_TAG),
        Endpoint("GET", f"{API}/get_chain_config_keys", chain_config_keys, response=ChainConfigKeys, tag=_TAG),
        Endpoint("GET", f"{API}{limits_path}", action_limits, response=ActionClientConfig, tag=_TAG),
        Endpoint("GET", f"{API}/version", service_version, response=VersionResponse, tag=_TAG),
        Endpoint(
            "GET", "/health", health, response=dict[str, bool], errors=_UNHEALTHY, error_body=dict[str, bool], tag=_TAG
        ),
        Endpoint("GET", "/attestation", no_attestation, described=False),
        Endpoint("GET", "/info", no_attestation, described=False),
    ]


async def chain_config(call: Call, _given: None) -> NodeChainConfig:
    """The chain and the contract that hold the accounts."""
    service = call.service
    chain_id = service.chain.chain_id
    return NodeChainConfig(
        chain_name=service.settings.chain_name,
        chain_id=chain_id,
        is_evm=True,
        testnet=chain_id not in _PUBLIC_CHAINS,
        token="ETH",  # noqa: S106 - the symbol of a coin
        contract_address=service.chain.contract_address,
        rpc_url=f"{call.service.public_url(call.request)}/rpc",
    )


async def api_payers(call: Call, _given: None) -> list[str]:
    """Addresses of the wallets that relay managed writes."""
    return list(call.service.chain.payers)


async def admin_api_payer(call: Call, _given: None) -> str:
    """Address of the wallet that manages the payers."""
    return call.service.chain.admin_payer


async def chain_config_keys(call: Call, _given: None) -> ChainConfigKeys:
    """Names that a node reads from the configuration table on chain."""
    vocabulary = call.service.vocabulary
    cost = f"API_COST_CENTS_{vocabulary.service.upper()}_ACTION"
    limits = [vocabulary.limits_key_prefix + name for name in _LIMIT_KEYS]
    return ChainConfigKeys(keys=[*_NODE_KEYS, cost, *limits])


async def action_limits(call: Call, _given: None) -> ActionClientConfig:
    """What one execution may use."""
    limits = call.service.settings.limits
    return ActionClientConfig(
        timeout_ms=limits.timeout_ms,
        async_timeout_ms=limits.timeout_ms,
        memory_limit_mb=limits.memory_limit_mb,
        max_code_length=limits.max_code_length,
        max_response_length=limits.max_response_length,
        max_console_log_length=limits.max_console_log_length,
        max_fetch_count=limits.max_fetch_count,
        max_get_keys_count=limits.max_get_keys_count,
        max_retries=limits.max_retries,
        client_timeout_ms_buffer=limits.client_timeout_ms_buffer,
    )


async def service_version(_call: Call, _given: None) -> VersionResponse:
    """Name and version of the running server."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("svcnb")
    except PackageNotFoundError:
        number = "unknown"
    return VersionResponse(name="svcnb emulator", version=number, commit_version=number, submodule_versions=[])


async def health(call: Call, _given: None) -> Response:
    """Whether actions can run; 503 when they cannot. They need the engine, and the chain for permissions."""
    service = call.service
    reachable = all(await asyncio.gather(service.engine.is_reachable(), service.chain.is_reachable()))
    cpu = not (service.settings.load_shedding and service.load.overloaded())
    body: dict[str, Any] = {
        service.vocabulary.health_member: reachable,
        "cpu_available": cpu,
        "billing_keys_present": service.settings.billing_enabled,
    }
    return answer(body, 200 if reachable and cpu else 503)


async def no_attestation(_call: Call, _given: None) -> Response:
    """Refused: an emulator is no trusted execution environment."""
    raise StructuredError(
        503,
        "There is no trusted execution environment here, so nothing can be attested.",
        fix="Ask a deployment that runs in one. An emulator's keys protect nothing of value.",
    )
