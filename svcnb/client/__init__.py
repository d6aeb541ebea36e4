"""The service from Python: `Client`, `AsyncClient`, their results and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svcnb.client.client import AsyncClient, Client
    from svcnb.client.running import RunRecord

__all__ = ["AsyncClient", "Client", "RunRecord"]


def __getattr__(name: str) -> Any:
    # Found on first use, so that importing svcnb.client.errors loads neither pydantic nor the HTTP library.
    if name == "RunRecord":
        from svcnb.client.running import RunRecord

        return RunRecord
    if name in __all__:
        from svcnb.client import client

        return getattr(client, name)
    raise AttributeError(f"module 'svcnb.client' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
