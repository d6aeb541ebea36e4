"""Actions that the account has registered under a name."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.references import ActionRef, GroupRef, group_id, one_action_hash, raw_cid
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, nothing, page_of, texts
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import hashed_cid


def register(action: ActionRef, name: str | None, description: str | None) -> Flow[RegisteredAction]:
    """Registers an action under a name, or replaces its existing name, and returns the registration."""
    made = registration(action, name, description, "svc")
    body = {"action_ipfs_cid": made.cid, "name": made.name, "description": made.description}
    # The service replaces the name and the description, so a retry has no additional effect.
    return ask(Call("POST", "/add_action", lambda _body, _answer: made, body, repeatable=True))


def registration(action: ActionRef, name: str | None, description: str | None, account: str) -> RegisteredAction:
    """Returns the registration of an action. The defaults are the `Action`'s own name and description.

    Raises:
        InvalidArgument: The action has no name, or its CID cannot be computed. The code in the hint uses ``account`` as
            the variable of the client or of the account.
    """
    cid = raw_cid(action)
    if isinstance(action, Action):
        name = action.name if name is None else name
        description = action.description if description is None else description
    if not name:
        raise InvalidArgument(
            "the action name is empty", hint=f'Pass a name: {account}.actions.register(action, name="increment").'
        )
    return RegisteredAction(hashed_cid=hashed_cid(cid), name=name, description=description or "", cid=cid)


def update(action: ActionRef, name: str | None, description: str | None) -> Flow[RegisteredAction]:
    """Reads an action's registration, replaces the name or the description, and returns the registration."""
    hashed = one_action_hash(action)
    old = None
    if name is None or description is None:
        known = yield from listing(None)
        old = next((item for item in known if item.hashed_cid == hashed), None)
    body = {"hashed_cid": hashed, **texts(old, name, description)}
    yield from ask(Call("POST", "/update_action_metadata", nothing, body, repeatable=True))
    return RegisteredAction(**body)


def page(number: int, size: int = PAGE_SIZE, group: GroupRef | None = None) -> Call[list[RegisteredAction]]:
    """Returns the call for one page of the account's actions, or of a group's actions."""
    query = {} if group is None else {"group_id": group_id(group)}
    return page_of("/list_actions", RegisteredAction, number, size, **query)


def listing(group: GroupRef | None) -> Flow[Listing[RegisteredAction]]:
    """Reads and returns all actions of the account, or the actions that a group permits."""
    return every(lambda number: page(number, group=group), "actions", RegisteredAction)


def _text(body: object, _answer: Answer) -> str:
    if not isinstance(body, str):
        raise TypeError(f"expected a string, got {type(body).__name__}")
    return body


def get(action: ActionRef) -> Flow[RegisteredAction]:
    """Reads and returns one registered action."""
    hashed = one_action_hash(action)
    missing = absent(
        f"action with the hash {hashed}",
        "To list the registered actions, call svc.actions.list(). To register an action, call "
        "svc.actions.register(action, name=name).",
    )
    return find(page, lambda item: item.hashed_cid == hashed, missing)


class Actions(Resource):
    """Registered actions, which are named CIDs. A registration grants no permissions. Only groups grant permissions."""

    def register(
        self, action: ActionRef, *, name: str | None = None, description: str | None = None
    ) -> RegisteredAction:
        """Registers an action under a name, or replaces its existing name, and returns the registration.

        This call costs one cent.

        Args:
            action: An action, a source or a raw CID.
            name: Name of the action. If omitted, the `Action`'s own name applies. A source or a CID needs a name.
            description: Description of the action. If omitted, the `Action`'s own description, if any, applies.

        Raises:
            InvalidArgument: The action is a hashed CID, or has no name.
            Forbidden: The key is not the account key.
        """
        return self._do(register(action, name, description))

    def update(self, action: ActionRef, *, name: str | None = None, description: str | None = None) -> RegisteredAction:
        """Changes the name or the description of a registered action, and returns the registration.

        Omitted values stay unchanged. This call costs one cent.

        Args:
            action: An action, a source, a CID or a hashed CID.
            name: New name, or None to keep the current name.
            description: New description, or None to keep the current description.

        Raises:
            NotFound: The action is not registered.
        """
        return self._do(update(action, name, description))

    def delete(self, action: ActionRef) -> None:
        """Deletes an action's registration and removes the action from every group of the account.

        This call costs one cent.

        Args:
            action: An action, a source, a CID or a hashed CID.
        """
        body = {"hashed_cid": one_action_hash(action)}
        doubt = "Check svc.actions.list(), because the service may have deleted the action."
        self._do(ask(Call("POST", "/delete_action", nothing, body, in_doubt=doubt)))

    def list(self, group: GroupRef | None = None) -> Listing[RegisteredAction]:
        """Returns all registered actions of the account, or the actions that ``group`` permits.

        In a group, an action with the hash zero means every action. This call is free.
        """
        return self._do(listing(group))

    def get(self, action: ActionRef) -> RegisteredAction:
        """Returns one registered action. This call is free.

        Args:
            action: An action, a source, a CID or a hashed CID.

        Raises:
            InvalidArgument: The value does not identify a single action.
            NotFound: The action is not registered.
        """
        return self._do(get(action))

    def iter(self, group: GroupRef | None = None) -> Iterator[RegisteredAction]:
        """Iterates over the registered actions of the account, or over the actions of a group.

        Each request reads one page. The requests are free.
        """
        return self._iterate(lambda number: page(number, group=group))

    def cid(self, source: str | Action) -> str:
        """Requests the CID of a source from the service, and returns this CID.

        This call is free and needs no key. `svcnb.cid` computes the same CID locally.
        """
        text = source.source if isinstance(source, Action) else source
        path = attrgetter("action_id_path")
        return self._do(ask(Call("POST", path, _text, text, key=False, repeatable=True, timeout_class="read")))
