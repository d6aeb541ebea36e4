"""The structured error body (specification 7). The other shape is a bare JSON string."""

from __future__ import annotations

from pydantic import Field

from svcnb.protocol.wire.base import Response


class ErrorBody(Response):
    """A failure of authentication, billing, routing or parsing."""

    error: str = Field(description="Code, for example unauthorized.")
    message: str = Field("", description="What was seen and what is allowed.")
    fix: str = Field("", description="The caller's next step.")
    docs_url: str = Field("", description="Where it is explained.")
