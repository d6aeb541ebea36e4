"""Requests with members that the live service requires and the emulator can do without."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from svcnb.protocol.wire.base import Request
from svcnb.protocol.wire.values import is_refused


class CompleteRequest(Request):
    """A request that lacks no member where types are strict (reference facts 2.2, 2.3)."""

    required_by_service: ClassVar[tuple[str, ...]] = ()
    """Members that the live service requires."""

    @model_validator(mode="after")
    def _complete(self, info: ValidationInfo) -> Self:
        missing = [name for name in self.required_by_service if name not in self.model_fields_set]
        if missing and is_refused(info, f"a request without {', '.join(missing)}"):
            raise PydanticCustomError(
                "missing_members", "{names} must be there: the service requires it", {"names": ", ".join(missing)}
            )
        return self
