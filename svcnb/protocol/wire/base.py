"""Base classes of all models (strict requests, and responses that keep unknown members), and the error body."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field


class Request(BaseModel):
    """Base class of request bodies. The models do not convert one JSON type into another, and ignore unknown members.

    The constructor validates the values, so the client rejects an invalid request before it sends the request.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=True, extra="ignore", frozen=True, defer_build=True, hide_input_in_errors=True
    )


class Response(BaseModel):
    """Base class of response bodies. The models keep unknown members."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="allow", frozen=True, defer_build=True, hide_input_in_errors=True
    )


class Success(Response):
    """Response of an endpoint that has no result (docs/service/endpoints.md#endpoints)."""

    success: bool = True


class ErrorBody(Response):
    """Body of an error in authentication, billing, routing or parsing (docs/service/http.md#errors).

    The body of any other error is a JSON string.
    """

    error: str = Field(description="Error code, for example unauthorized.")
    message: str = Field("", description="What is wrong, what was given and what is allowed.")
    fix: str = Field("", description="How to fix the problem.")
    docs_url: str = Field("", description="URL of the documentation of this error.")
