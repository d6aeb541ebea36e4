"""Asynchronous versions of the classes of `svcnb.client.resources.actions`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.references import ActionRef, GroupRef
from svcnb.client.resources.actions import cid, delete, get, listing, page, register, update
from svcnb.client.resources.base import AsyncResource
from svcnb.protocol.action import Action

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class AsyncActions(AsyncResource):
    """Registered actions, which are named CIDs. A registration grants no permissions. Groups grant them."""

    async def register(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """Registers an action under a name, or replaces its existing name. This call costs one cent.

        Args:
            action: An action, a source or a raw CID.
            name: Name of the action. If omitted, the `Action`'s own name applies.
            description: Description of the action. If omitted, the `Action`'s own description applies.

        Raises:
            InvalidArgument: The action is a hashed CID, or has no name.
            Forbidden: The key is not the account's master key.
        """
        return await self._do(register(action, name, description))

    async def update(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """Changes the name or the description of a registered action. Omitted values stay unchanged.

        This call costs one cent.

        Args:
            action: An action, a source, a CID or a hashed CID.
            name: The new name.
            description: The new description.

        Raises:
            NotFound: The action is not registered.
        """
        return await self._do(update(action, name, description))

    async def delete(self, action: ActionRef) -> None:
        """Deletes an action's registration and removes it from every group of the account. This call costs one cent.

        Args:
            action: An action, a source, a CID or a hashed CID.
        """
        await self._do(delete(action))

    async def list(self, group: GroupRef | None = None) -> Listing[RegisteredAction]:
        """Returns all actions of the account, or those that a group permits. This call is free."""
        return await self._do(listing(group))

    async def get(self, action: ActionRef) -> RegisteredAction:
        """Returns one registered action. This call is free.

        Args:
            action: An action, a source, a CID or a hashed CID.

        Raises:
            InvalidArgument: The value does not identify a single action.
            NotFound: The action is not registered.
        """
        return await self._do(get(action))

    def iter(self, group: GroupRef | None = None) -> AsyncIterator[RegisteredAction]:
        """Iterates over the actions page by page, for accounts with very many actions. The calls are free."""
        return self._iterate(lambda number: page(number, group=group))

    async def cid(self, source: str | Action) -> str:
        """Requests the CID of a source from the service.

        This call is free and needs no key. `svcnb.cid` computes the same CID locally.
        """
        return await self._do(cid(source))
