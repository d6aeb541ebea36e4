"""Checks before a body is read, in the order of reference facts 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.emulator.access.credentials import presented_key
from svcnb.emulator.http.caller import Caller
from svcnb.emulator.http.endpoint import Call, Guard

if TYPE_CHECKING:
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.platform.faults import Faults

KEY_SCHEMES = ("ApiKey", "Bearer")


async def _present(call: Call) -> None:
    presented_key(call.request.headers)


KEY_PRESENT = Guard(_present, frozenset({401}), KEY_SCHEMES)
"""The request has a key; whether it exists is not checked yet."""


class Access:
    """Authentication by keys.

    Args:
        permissions: Resolves keys.
        faults: Injected failures of the chain.

    Attributes:
        key: Guard: the key resolves to an account.
    """

    def __init__(self, permissions: PermissionCache, faults: Faults) -> None:
        self._permissions = permissions
        self._faults = faults
        self.key = Guard(self._resolves, frozenset({401, 503}), KEY_SCHEMES)

    async def identify(self, call: Call) -> Caller:
        """Resolves the presented key, once per request.

        Args:
            call: The request.

        Returns:
            The account behind the key.

        Raises:
            StructuredError: 401 no key or an unknown one, 503 when the chain does not answer.
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
