"""The clients `Client` and `AsyncClient` of the service, with their results and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svcnb.client.async_client import AsyncClient
    from svcnb.client.client import Client
    from svcnb.client.running import RunRecord

__all__ = ["AsyncClient", "Client", "RunRecord"]

_HOMES = {
    "AsyncClient": "svcnb.client.async_client",
    "Client": "svcnb.client.client",
    "RunRecord": "svcnb.client.running",
}


if not TYPE_CHECKING:
    # Hidden from type checkers, which would otherwise accept every name.

    def __getattr__(name: str) -> Any:
        # Imported on first use, so that svcnb.client.errors loads neither pydantic nor the HTTP library.
        if name not in _HOMES:
            raise AttributeError(f"module 'svcnb.client' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
