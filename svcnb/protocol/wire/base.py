"""Base classes of all wire models: strict requests, and responses that keep unknown members."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """A request body: JSON types are not converted into each other, unknown members are ignored.

    Creating one validates it, so the client rejects invalid requests before they are sent.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, defer_build=True, hide_input_in_errors=True)


class Response(BaseModel):
    """A response body: unknown members are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, hide_input_in_errors=True)


class Success(Response):
    """Body of an endpoint without a result (reference facts G5)."""

    success: bool = True
