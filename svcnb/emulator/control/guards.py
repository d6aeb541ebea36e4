"""Who may use the control plane: programs of this machine, or whoever has the token. Never a web page."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.requests import Request

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import JSON_TYPE
from svcnb.emulator.http.endpoint import Call, Guard
from svcnb.emulator.http.origins import host_name, is_local_name, is_own_origin

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


async def _check(call: Call) -> None:
    request = call.request
    token = call.service.settings.control_token
    _refuse_other_origins(request)
    if token is not None:
        _require_token(request, token)
    else:
        _require_this_machine(request)
    if request.method in _WITH_BODY and not _is_json(request):
        # A form of another site's page cannot send this type without asking first.
        raise StructuredError(
            415,
            "The control plane takes JSON only.",
            fix=f"Send the header Content-Type: {JSON_TYPE}, and {{}} when there is nothing to say.",
        )


def _refuse_other_origins(request: Request) -> None:
    if not is_own_origin(request):
        raise _forbidden("A page of another origin may not use the control plane.")


def _require_token(request: Request, token: str) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise StructuredError(
            401,
            "The control plane of this emulator needs its token.",
            fix="Send Authorization: Bearer <control_token>, the one it was started with.",
            docs="authentication",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _require_this_machine(request: Request) -> None:
    if request.client is None or not is_local_name(request.client.host):
        raise _forbidden("The control plane answers programs of the emulator's own machine only.")
    name = host_name(request)
    if not is_local_name(name):
        raise _forbidden(f"The control plane does not answer under the name {name[:80]!r}: use 127.0.0.1 or localhost.")


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON_TYPE


def _forbidden(message: str) -> StructuredError:
    return StructuredError(
        403, message, fix="Call it from the machine it runs on, or start it with control_token (SVC_CONTROL_TOKEN)."
    )


CONTROL: Final = Guard(_check, frozenset({401, 403}))
"""The caller may change time, money and state."""
