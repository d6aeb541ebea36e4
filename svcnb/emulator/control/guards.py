"""Access control of the control plane, which requires the control token and rejects requests from other origins."""

from __future__ import annotations

import hmac
from typing import Final

from starlette.requests import Request

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import JSON_TYPE
from svcnb.emulator.http.body import content_type_problem, is_json
from svcnb.emulator.http.middleware import is_own_origin
from svcnb.emulator.http.routing import Call, Guard

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


def control_guard(token: str) -> Guard:
    """Returns the guard of the control plane. Callers that pass the guard can change time, credit and state.

    Args:
        token: Control token that requests must contain.
    """

    async def check(call: Call) -> None:
        request = call.request
        if not is_own_origin(request):
            raise StructuredError(
                403,
                f"pages of the origin {request.headers['origin'][:100]} cannot use the control plane",
                fix="Call the control plane from a program, or from a page that the emulator serves.",
            )
        _require_token(request, token)
        if request.method in _WITH_BODY and not is_json(request):
            # A page of another site cannot send this content type without a preflight request.
            raise StructuredError(
                415,
                f"{content_type_problem(request)}, but the control plane accepts only {JSON_TYPE}",
                fix=f"Send the header Content-Type: {JSON_TYPE}. If the request has no values, send {{}}.",
            )

    return Guard(check, frozenset({401, 403}))


def _require_token(request: Request, token: str) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise StructuredError(
            401,
            "the control token is invalid" if given else "the control token is missing",
            fix=(
                'Send the header "Authorization: Bearer TOKEN", where TOKEN is the value of the setting control_token. '
                "Without this setting, the emulator creates a token, and only programs of the same user find the "
                "token automatically."
            ),
            docs="authentication",
            headers={"WWW-Authenticate": "Bearer"},
        )
