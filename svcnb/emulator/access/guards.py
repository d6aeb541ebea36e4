"""Authentication checks, which run before the server reads a body (docs/service/http.md#order-of-checks)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.routing import Call, Caller, Guard

if TYPE_CHECKING:
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.platform.faults import Faults

KEY_SCHEMES = ("ApiKey", "Bearer")


def presented_key(headers: Headers) -> str:
    """Returns the API key of a request.

    ``Authorization: Bearer`` takes precedence over ``X-Api-Key``. The function ignores spaces around the key, and
    treats an empty key as a missing key (docs/service/http.md#authentication).

    Args:
        headers: HTTP headers of the request.

    Raises:
        StructuredError: 401 if the request has no key.
    """
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and (token := token.strip()):
        return token
    if key := headers.get("x-api-key", "").strip():
        return key
    raise StructuredError(
        401,
        "no API key was sent",
        fix="Send the header X-Api-Key: <API_KEY> or Authorization: Bearer <API_KEY>.",
        docs="authentication",
        headers={"WWW-Authenticate": "Bearer"},
    )


async def _present(call: Call) -> None:
    presented_key(call.request.headers)


KEY_PRESENT = Guard(_present, frozenset({401}), KEY_SCHEMES)
"""Guard that requires a key in the request. The guard does not check whether the key exists."""


class Access:
    """Authentication by API keys.

    Args:
        permissions: Permission cache, which finds the account of a key.
        faults: Injected failures of the chain.

    Attributes:
        key: Guard that requires a key of an existing account.
    """

    def __init__(self, permissions: PermissionCache, faults: Faults) -> None:
        self._permissions = permissions
        self._faults = faults
        self.key = Guard(self._resolves, frozenset({401, 503}), KEY_SCHEMES)

    async def identify(self, call: Call) -> Caller:
        """Returns the request's key and its account. Finds the account only once per request.

        Args:
            call: Request whose key identifies the account.

        Returns:
            The key and its account.

        Raises:
            StructuredError: 401 if the key is missing or unknown, or 503 if the chain does not respond.
        """
        known = call.known_caller
        if known is not None:
            return known
        key = presented_key(call.request.headers)
        await self._faults.check("chain")
        caller = await self._permissions.resolve(key)
        call.caller = caller
        return caller

    async def _resolves(self, call: Call) -> None:
        await self.identify(call)
