"""Endpoints for the configuration and health of the node. They require no credential."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import answer
from svcnb.emulator.http.routing import API, Call, Endpoint
from svcnb.emulator.platform.origins import ServerAddress
from svcnb.emulator.settings import Settings
from svcnb.protocol.wire.config import ActionClientConfig, ChainConfigKeys, NodeChainConfig, VersionResponse

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain
    from svcnb.emulator.sandbox.load import LoadMonitor
    from svcnb.emulator.sandbox.protocol import Engine

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


@dataclass(frozen=True, eq=False, repr=False)
class NodeConfig:
    """Endpoints for the configuration and health of the node.

    Attributes:
        settings: The emulator's settings.
        chain: The chain with the contract.
        engine: The engine that runs actions.
        load: Monitor of the machine's load.
        address: The base URL of this server.
    """

    settings: Settings
    chain: Chain
    engine: Engine
    load: LoadMonitor
    address: ServerAddress

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints for the node's chain, payers, limits, version and health."""
        limits_path = self.settings.vocabulary.action_limits_path
        return [
            Endpoint("GET", f"{API}/get_node_chain_config", self.chain_config, response=NodeChainConfig, tag=_TAG),
            Endpoint("GET", f"{API}/get_api_payers", self.api_payers, response=list[str], tag=_TAG),
            Endpoint("GET", f"{API}/get_admin_api_payer", self.admin_api_payer, response=str, tag=_TAG),
            Endpoint("GET", f"{API}/get_chain_config_keys", self.chain_config_keys, response=ChainConfigKeys, tag=_TAG),
            Endpoint("GET", f"{API}{limits_path}", self.action_limits, response=ActionClientConfig, tag=_TAG),
            Endpoint("GET", f"{API}/version", self.service_version, response=VersionResponse, tag=_TAG),
            Endpoint(
                "GET",
                "/health",
                self.health,
                response=dict[str, bool],
                errors=_UNHEALTHY,
                error_body=dict[str, bool],
                tag=_TAG,
            ),
            Endpoint("GET", "/attestation", self.no_attestation, described=False),
            Endpoint("GET", "/info", self.no_attestation, described=False),
        ]

    async def chain_config(self, call: Call, _given: None) -> NodeChainConfig:
        """Returns the configuration of the chain, with the address of the contract that stores the accounts."""
        chain_id = self.chain.chain_id
        return NodeChainConfig(
            chain_name=self.settings.chain_name,
            chain_id=chain_id,
            is_evm=True,
            testnet=chain_id not in _PUBLIC_CHAINS,
            token="ETH",  # noqa: S106 - the symbol of a coin
            contract_address=self.chain.contract_address,
            rpc_url=f"{self.address.seen_by(call.request)}/rpc",
        )

    async def api_payers(self, _call: Call, _given: None) -> list[str]:
        """Returns the addresses of the payers: wallets that send the transactions for accounts in API mode."""
        return list(self.chain.payers)

    async def admin_api_payer(self, _call: Call, _given: None) -> str:
        """Returns the address of the wallet that manages the payers."""
        return self.chain.admin_payer

    async def chain_config_keys(self, _call: Call, _given: None) -> ChainConfigKeys:
        """Returns the names of the settings that a node reads from the chain."""
        vocabulary = self.settings.vocabulary
        cost = f"API_COST_CENTS_{vocabulary.service.upper()}_ACTION"
        limits = [vocabulary.limits_key_prefix + name for name in _LIMIT_KEYS]
        return ChainConfigKeys(keys=[*_NODE_KEYS, cost, *limits])

    async def action_limits(self, _call: Call, _given: None) -> ActionClientConfig:
        """Returns the limits of one run, such as the maximum duration and the maximum memory."""
        limits = self.settings.limits
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

    async def service_version(self, _call: Call, _given: None) -> VersionResponse:
        """Returns the name and version of the running server."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("svcnb")
        except PackageNotFoundError:
            number = "unknown"
        return VersionResponse(name="svcnb emulator", version=number, commit_version=number, submodule_versions=[])

    async def health(self, _call: Call, _given: None) -> Response:
        """Returns the health of the node. The status is 503 if actions cannot run.

        Actions need the engine and the chain, which stores the permissions. With the setting load_shedding, the status
        is also 503 while the CPU is overloaded.
        """
        reachable = all(await asyncio.gather(self.engine.is_reachable(), self.chain.is_reachable()))
        cpu = not (self.settings.load_shedding and self.load.overloaded())
        body: dict[str, Any] = {
            self.settings.vocabulary.health_member: reachable,
            "cpu_available": cpu,
            "billing_keys_present": self.settings.billing_enabled,
        }
        return answer(body, 200 if reachable and cpu else 503)

    async def no_attestation(self, _call: Call, _given: None) -> Response:
        """Always returns an error, because an emulator has no trusted execution environment."""
        raise StructuredError(
            503,
            "this emulator runs without a trusted execution environment, so it cannot return an attestation",
            fix=(
                "Use a deployment in a trusted execution environment. Do not use an emulator's keys for anything "
                "of value."
            ),
        )
