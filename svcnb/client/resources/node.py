"""Information about the service and its node. The calls need no key."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from svcnb.client.calls import Answer, Call, Flow, T, ask
from svcnb.client.models.node import ChainConfig, Health, Limits, Version
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import model
from svcnb.protocol.errors import shown
from svcnb.protocol.vocabulary import Vocabulary

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}\Z")


def _get(
    path: str | Callable[[Vocabulary], str], parse: Callable[[Any, Answer], T], statuses: tuple[int, ...] = ()
) -> Flow[T]:
    return ask(Call("GET", path, parse, key=False, timeout_class="read", statuses=statuses))


def _address(body: object, _answer: Answer | None = None) -> str:
    if not isinstance(body, str) or not _ADDRESS.match(body):
        raise TypeError(f"expected an address of 0x and 40 hex digits, got {shown(body)}")
    return body.lower()


def chain_config() -> Flow[ChainConfig]:
    """Reads and returns the chain id and the address of the contract."""
    return _get("/get_node_chain_config", model(ChainConfig))


def _health(body: Any, answer: Answer) -> Health:
    return Health.model_validate({**body, "healthy": answer.status == 200})  # noqa: PLR2004 - HTTP status


def payers() -> Flow[list[str]]:
    """Reads and returns the addresses of the payers, the wallets that pay the gas for accounts in API mode."""
    return _get("/get_api_payers", lambda body, _: [_address(item) for item in body])


def admin_payer() -> Flow[str]:
    """Returns the address of the admin payer, the wallet of the service that can replace the API payers."""
    return _get("/get_admin_api_payer", _address)


class Node(Resource):
    """Information about the node that responds: chain, limits, payers, version and health.

    All calls are free and do not need a key.
    """

    def chain_config(self) -> ChainConfig:
        """Returns the chain on which the service stores the accounts, and the address of the contract."""
        return self._do(chain_config())

    def version(self) -> Version:
        """Returns the name, the version number and the Git commit of the service's software."""
        return self._do(_get("/version", model(Version)))

    def health(self) -> Health:
        """Returns the health of the node. An unhealthy node does not cause an error."""
        return self._do(_get("//health", _health, statuses=(503,)))

    def limits(self) -> Limits:
        """Returns the limits of one run, for example its maximum duration and memory."""
        return self._do(_get(attrgetter("action_limits_path"), model(Limits)))

    def payers(self) -> list[str]:
        """Returns the addresses of the wallets that send and pay for the transactions of accounts in API mode."""
        return self._do(payers())

    def admin_payer(self) -> str:
        """Returns the address of the wallet that can replace the payers."""
        return self._do(admin_payer())

    def openapi(self) -> dict[str, Any]:
        """Returns the OpenAPI description of the running server."""
        return self._do(_get("/openapi.json", lambda body, _: dict(body)))
