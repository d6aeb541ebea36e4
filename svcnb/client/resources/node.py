"""What a node tells about itself; no key needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from svcnb.client.calls import Answer, Call, Flow, T, ask
from svcnb.client.models.node import ChainConfig, Health, Limits, Version
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import model
from svcnb.protocol.vocabulary import Vocabulary

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}\Z")


def _get(
    path: str | Callable[[Vocabulary], str], parse: Callable[[Any, Answer], T], statuses: tuple[int, ...] = ()
) -> Flow[T]:
    return ask(Call("GET", path, parse, key=False, patience="read", statuses=statuses))


def _address(body: object, _answer: Answer | None = None) -> str:
    if not isinstance(body, str) or not _ADDRESS.match(body):
        raise TypeError("an address was expected")
    return body.lower()


def chain_config() -> Flow[ChainConfig]:
    """Asks for the chain."""
    return _get("/get_node_chain_config", model(ChainConfig))


def version() -> Flow[Version]:
    """Asks for the version."""
    return _get("/version", model(Version))


def health() -> Flow[Health]:
    """Asks for the health; 503 is an answer too."""
    return _get(
        "//health",
        lambda body, answer: Health.model_validate({**body, "healthy": answer.status == 200}),  # noqa: PLR2004 - the status of HTTP
        statuses=(503,),
    )


def limits() -> Flow[Limits]:
    """Asks for the execution limits."""
    return _get(attrgetter("action_limits_path"), model(Limits))


def payers() -> Flow[list[str]]:
    """Asks for the payers."""
    return _get("/get_api_payers", lambda body, _: [_address(item) for item in body])


def admin_payer() -> Flow[str]:
    """Asks for the admin payer."""
    return _get("/get_admin_api_payer", _address)


def openapi() -> Flow[dict[str, Any]]:
    """Asks for the OpenAPI description."""
    return _get("/openapi.json", lambda body, _: dict(body))


class Node(Resource):
    """The node that answers: its chain, limits, payers, version and health. All free, no key needed."""

    def chain_config(self) -> ChainConfig:
        """Returns the chain that accounts live on, and the address of the contract."""
        return self._do(chain_config())

    def version(self) -> Version:
        """Returns which program answers."""
        return self._do(version())

    def health(self) -> Health:
        """Returns whether the node can work just now; does not raise when it cannot."""
        return self._do(health())

    def limits(self) -> Limits:
        """Returns what one execution may use."""
        return self._do(limits())

    def payers(self) -> list[str]:
        """Returns the addresses that relay the writes of accounts in API mode."""
        return self._do(payers())

    def admin_payer(self) -> str:
        """Returns the address that manages the payers."""
        return self._do(admin_payer())

    def openapi(self) -> dict[str, Any]:
        """Returns the OpenAPI description of the running server."""
        return self._do(openapi())
