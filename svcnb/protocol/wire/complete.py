"""Base class of requests with members that the live service requires but the emulator treats as optional."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from svcnb.protocol.wire.base import Request
from svcnb.protocol.wire.rejections import is_refused


class CompleteRequest(Request):
    """Base class of requests that list required members in `required_by_service`.

    With strict types, the model rejects a request without one of these members.

    Source: docs/service/strict-types.md#requests-that-the-live-service-rejects, docs/service/http.md#value-formats.
    """

    required_by_service: ClassVar[tuple[str, ...]] = ()
    """Names of the members that the live service requires."""

    @model_validator(mode="after")
    def _complete(self, info: ValidationInfo) -> Self:
        missing = [name for name in self.required_by_service if name not in self.model_fields_set]
        if missing and is_refused(info, f"a request without {', '.join(missing)}"):
            raise PydanticCustomError(
                "missing_members",
                "the request has no {names}, but the service requires every member",
                {"names": ", ".join(missing)},
            )
        return self
