"""The structured error body (docs/service/http.md#errors). The other form of an error is a bare JSON string."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.wire.base import Response


class ErrorBody(Response):
    """Body of an error in authentication, billing, routing or parsing."""

    error: str = Field(description="Error code, for example unauthorized.")
    message: str = Field("", description="What is wrong, what was given and what is allowed.")
    fix: str = Field("", description="How to fix it.")
    docs_url: str = Field("", description="URL of the documentation of this error.")
