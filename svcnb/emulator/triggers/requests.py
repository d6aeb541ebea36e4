"""Request class and endpoint factory of the triggers service, with authentication, bodies and error responses."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.body import JsonLimitExceeded, read_bytes, read_json
from svcnb.emulator.http.mismatch import sentence
from svcnb.emulator.http.routing import Call, Endpoint
from svcnb.emulator.platform.offload import current_account
from svcnb.emulator.triggers.errors import Refused, bad
from svcnb.protocol.wire.triggers import TriggerError

if TYPE_CHECKING:
    from svcnb.emulator.platform.faults import Faults
    from svcnb.emulator.triggers.identity import User
    from svcnb.emulator.triggers.service import Triggers

_WHOLE: Final = re.compile(r"-?[0-9]{1,80}\Z")


@dataclass(frozen=True)
class Ask:
    """Request to the triggers service.

    Attributes:
        call: The HTTP request, with the values of its path parameters.
        triggers: Triggers service that handles the request.
    """

    call: Call
    triggers: Triggers

    def header(self, name: str) -> str:
        """Returns a request header, or an empty string if the request does not contain the header."""
        return self.call.request.headers.get(name, "")

    async def user(self) -> User:
        """Returns the user of the bearer token.

        Raises:
            Refused: 401 if the token is missing, malformed, not approved or revoked.
        """
        scheme, _, token = self.header("authorization").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refused(
                401,
                "unauthorized",
                'the request has no bearer token: send the header "Authorization: Bearer TOKEN", where TOKEN is a '
                "token approved at /agent/authorize",
            )
        user = await self.triggers.identity.by_token(token.strip())
        current_account.set(user.id)
        return user

    def identifier(self, name: str = "id") -> str:
        """Returns the id from the path as a UUID in lower case with hyphens.

        Raises:
            Refused: 400 ``invalid_id`` if the value in the path is not a UUID.
        """
        try:
            return str(UUID(self.call.path[name]))
        except ValueError:
            raise bad("invalid_id", f"the id {self.call.path[name][:60]!r} is not a UUID: check the id") from None

    async def bytes(self, limit: int) -> bytes:
        """Returns the body.

        Args:
            limit: Maximum size of the body, in bytes.

        Raises:
            Refused: 413 ``body_too_large`` if the body is larger than the limit, or 503 ``service_unavailable`` if the
                memory for the bodies of all requests is full.
        """
        try:
            return await read_bytes(self.call.request, limit)
        except StructuredError as error:
            if "Retry-After" in (error.headers or {}):
                raise Refused(error.status, "service_unavailable", error.message, retry_after_s=1) from None
            raise Refused(
                error.status, "body_too_large", f"the body is larger than {limit} bytes: send less data"
            ) from None

    async def json(self) -> Any:
        """Returns the parsed JSON body.

        Raises:
            Refused: 400 ``invalid_json`` if the body is not UTF-8 JSON or exceeds a limit for JSON. The errors of
                `bytes` are also possible.
        """
        data = await self.bytes(self.triggers.max_body_bytes)
        try:
            return await read_json(data)
        except JsonLimitExceeded as error:
            raise bad("invalid_json", f"the JSON body exceeds a limit: {error}. {error.fix}") from None
        except ValueError as error:
            raise bad("invalid_json", f"the body is not valid JSON ({error}): send UTF-8 JSON") from None


Handler = Callable[[Ask], Awaitable[Response]]


class Rows:
    """Factory for the endpoints of the triggers service.

    Args:
        triggers: Function that returns the triggers service, which the first request creates.
        faults: Injected faults.
    """

    def __init__(self, triggers: Callable[[], Awaitable[Triggers]], faults: Faults) -> None:
        self._triggers = triggers
        self._faults = faults

    def row(self, method: str, path: str, handler: Handler, **shown: Any) -> Endpoint:
        """Returns an endpoint of the triggers service.

        Args:
            method: HTTP method.
            path: Full path.
            handler: Function that handles the request and reads its body itself.
            **shown: Attributes of `Endpoint` for the OpenAPI description. Without them, the description omits the
                endpoint.
        """

        async def handle(call: Call, _given: None) -> Response:
            triggers = await self._triggers()
            try:
                await self._faults.check("triggers")
                return await handler(Ask(call, triggers))
            except Refused as refusal:
                return refusal.response()

        handle.__doc__ = handler.__doc__
        if not shown:
            return Endpoint(method, path, handle, described=False)
        return Endpoint(method, path, handle, reads_itself=True, error_body=TriggerError, tag="Triggers", **shown)

    def owned(self, method: str, path: str, handler: Handler, *, errors: Iterable[int] = (), **shown: Any) -> Endpoint:
        """Returns an endpoint like `row`. The endpoint requires a token, so its OpenAPI description also lists 401."""
        return self.row(method, path, handler, schemes=("TriggersToken",), errors=frozenset({401, *errors}), **shown)


def read(model: type[BaseModel], value: Any) -> Any:
    """Validates a body against a model, and returns the instance of the model.

    Raises:
        Refused: 422 ``unprocessable_entity`` if the body does not match the model. The message omits the values of
            the body, because the body can contain a usage key.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        text = f"the body does not match the schema: {sentence(problems, 'body')}"
        raise Refused(422, "unprocessable_entity", text) from None


def whole(name: str, text: str | None, default: int, lowest: int, highest: int) -> int:
    """Returns an integer from a query string, or the nearest limit for a number outside of the range.

    Args:
        name: Name of the parameter, for the error message.
        text: Value in the query string, or None if the parameter is missing.
        default: Result for a missing parameter.
        lowest: Minimum of the result.
        highest: Maximum of the result.

    Raises:
        Refused: 422 if the value is not an integer.
    """
    if text is None:
        return default
    if not _WHOLE.match(text):
        raise Refused(
            422, "unprocessable_entity", f"{name} is {text[:60]!r}: send an integer from {lowest} to {highest}"
        )
    return max(lowest, min(int(text), highest))
