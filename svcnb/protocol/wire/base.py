"""What all wire models share: how strict a request is, what a response keeps."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """A request body: JSON types are not converted into each other, unknown members are ignored.

    Building one checks it, so the client refuses before sending what the service would refuse after.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, defer_build=True, hide_input_in_errors=True)


class Response(BaseModel):
    """A response body: unknown members are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, hide_input_in_errors=True)


class Success(Response):
    """The whole body of an endpoint that has nothing else to tell (reference facts G5)."""

    success: bool = True
