"""Difference between a description and an account, as ordered steps. Additions come before removals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import everything, wallet_address
from svcnb.protocol.wire.values import WILDCARD_ADDRESS, WILDCARD_HASH
from svcnb.toolkit.plan import steps
from svcnb.toolkit.plan.description import EVERYTHING, MASTER, Description
from svcnb.toolkit.plan.observed import Members, Observed
from svcnb.toolkit.plan.state import State
from svcnb.toolkit.plan.steps import Step

Identity = TypeVar("Identity", int, str)


def difference(description: Description, observed: Observed, state: State, *, prune: bool) -> Iterator[Step]:
    """Yields the steps that change the current account into the described account.

    Args:
        description: Description of the account.
        observed: Current state of the account.
        state: Recorded resource of each name. The function adds the resources that it finds by name, and removes
            groups, keys and triggers that no longer exist.
        prune: Whether to delete groups, keys and actions that the description does not contain.

    Raises:
        InvalidArgument: A name matches several groups, keys or triggers, or a wallet does not belong to the account. Or
            the plan creates a wallet in API mode, but has no state file.
    """
    lost = _finish_creation(observed, state)
    _match(description, observed, state)
    yield from _actions(description, observed)
    yield from (steps.create_wallet(name) for name in description.wallets if name not in state.wallets)
    for name in description.groups:
        yield from _group(description, observed, state, name)
    if lost is not None:
        yield steps.remove_key(lost[0], lost[1], "delete, because its secret was not stored", begun=True)
    for name in description.keys:
        yield from _key(description, observed, state, name)
    for name in description.triggers:
        yield from _trigger(description, observed, state, name)
    if prune:
        yield from _prune(description, observed, state, lost)


# --- matching names -------------------------------------------------------------------------------------------------


def _finish_creation(observed: Observed, state: State) -> tuple[str, str] | None:
    """Finds the resource whose creation was interrupted, and records its identifier unless the resource is a usage key.

    Returns:
        Name and hash of the interrupted usage key, whose secret is lost. None if there is no such key.
    """
    begun = state.begun
    if begun is None:
        return None
    if begun.kind == "keys":
        for hashed, key in observed.keys.items():
            if key.name == begun.name and hashed not in {*begun.before, *state.keys.values()}:
                return begun.name, hashed
        return None
    made: list[Any]
    if begun.kind == "wallets":  # in API mode, the name of a wallet is not known
        made = [address for address in observed.made_wallets if address not in state.wallets.values()]
    else:
        there = observed.groups if begun.kind == "groups" else observed.triggers
        made = [identity for identity, each in there.items() if each.name == begun.name]
    if fresh := [identity for identity in made if str(identity) not in begun.before]:
        state.end(begun.kind, begun.name, fresh[0])
    return None


def _match(description: Description, observed: Observed, state: State) -> None:
    """Finds the resource for each name of the description: the recorded resource, or else a resource with this name."""
    for name, wallet in description.wallets.items():
        if wallet.address is not None:
            state.wallets[name] = wallet_address(wallet.address)
        elif observed.on_chain and name not in state.wallets:
            # In ChainSecured mode, the contract stores a name for each wallet.
            there = [each for each, called in observed.made_wallets.items() if called == name]
            if len(there) == 1:
                state.wallets[name] = there[0]
        address = state.wallets.get(name)
        if address is not None and address not in observed.wallets:
            raise InvalidArgument(
                f"the wallet {name!r} has the address {address}, which does not belong to this account",
                hint="Correct the address in the description or state file. To create a wallet, delete the address.",
            )
        if address is None and state.path is None and not observed.on_chain:
            raise InvalidArgument(
                f"the wallet {name!r} has no address, so the next plan cannot find the wallet without a state file",
                hint='Pass the path of a state file, for example state="account.state.json", or add the address of '
                "the wallet.",
            )
    groups = {number: group.name for number, group in observed.groups.items()}
    keys = {hashed: key.name for hashed, key in observed.keys.items()}
    begun = state.begun
    if begun is not None and begun.kind == "keys":  # do not match a key whose secret is lost
        keys = {hashed: name for hashed, name in keys.items() if name != begun.name or hashed in begun.before}
    _match_names("groups", description.groups, groups, state.groups)
    _match_names("keys", description.keys, keys, state.keys)
    triggers = {identity: trigger.name for identity, trigger in observed.triggers.items()}
    if description.triggers:
        _match_names("triggers", description.triggers, triggers, state.triggers)


def _match_names(kind: str, wanted: Iterable[str], there: Mapping[Identity, str], known: dict[str, Identity]) -> None:
    for name in list(known):
        if known[name] not in there:
            del known[name]
    free = {identity: name for identity, name in there.items() if identity not in known.values()}
    several = {name for name, count in Counter(free.values()).items() if count > 1}
    for name in wanted:
        if name in known:
            continue
        if name in several:
            raise InvalidArgument(
                f"the account has several {kind} named {name!r}, so the name is ambiguous",
                hint="Rename all of them except one, or use a different name in the description.",
            )
        found = next((identity for identity, each in free.items() if each == name), None)
        if found is not None:
            known[name] = found


# --- differences ----------------------------------------------------------------------------------------------------


def _actions(description: Description, observed: Observed) -> Iterator[Step]:
    for name, spec in description.actions.items():
        there = observed.actions.get(description.action_hash(name))
        if there is None or (there.name, there.description) != (name, spec.description):
            yield steps.register_action(description, name, anew=there is None)


def _group(description: Description, observed: Observed, state: State, name: str) -> Iterator[Step]:
    spec, number = description.groups[name], state.groups.get(name)
    if number is None:
        yield steps.create_group(description, name)
        return
    group = observed.groups[number]
    held = observed.members.get(number, Members(frozenset(), frozenset()))
    actions = {description.action_hash(each): each for each in spec.actions}
    wallets = {_address(each, observed, state): each for each in spec.wallets}
    wildcard = (WILDCARD_HASH in held.actions) != (WILDCARD_HASH in actions) or (
        (WILDCARD_ADDRESS in held.wallets) != (WILDCARD_ADDRESS in wallets)
    )
    if (group.name, group.description) != (name, spec.description):
        yield steps.update_group(description, name, "the name or description differs")
        return
    if wildcard:
        # A call cannot add or remove the wildcard (0) as a single entry.
        yield steps.update_group(description, name, "a wildcard is added or removed")
        return
    yield from (steps.permit_action(name, each) for hashed, each in actions.items() if hashed not in held.actions)
    yield from (steps.permit_wallet(name, each) for address, each in wallets.items() if address not in held.wallets)
    for hashed in sorted(held.actions - set(actions)):
        label = observed.actions[hashed].name if hashed in observed.actions else hashed
        yield steps.withdraw_action(name, hashed, label)
    names = {address: each for each, address in state.wallets.items()}
    for address in sorted(held.wallets - {each for each in wallets if each is not None}):
        yield steps.withdraw_wallet(name, address, names.get(address, address))


def _address(name: str, observed: Observed, state: State) -> str | None:
    """Returns the address of the wallet with the given name, or a placeholder if the wallet does not exist yet."""
    if name == EVERYTHING:
        return WILDCARD_ADDRESS
    return observed.master() if name == MASTER else state.wallets.get(name, f"(to be created: {name})")


def _key(description: Description, observed: Observed, state: State, name: str) -> Iterator[Step]:
    spec, hashed = description.keys[name], state.keys.get(name)
    if hashed is None:
        yield steps.create_key(name)
        return
    key: UsageKey = observed.keys[hashed]
    differs = [field for field, wanted in spec.flags().items() if getattr(key, field) != wanted]
    for field, names in spec.lists().items():
        wanted = {everything if each == EVERYTHING else state.groups.get(each, -1) for each in names}
        if set(getattr(key, field)) != wanted:
            differs.append(field)
    if (key.name, key.description) != (name, spec.description):
        differs.append("name or description")
    if differs:
        yield steps.update_key(name, f"correct {', '.join(differs)}")


def _trigger(description: Description, observed: Observed, state: State, name: str) -> Iterator[Step]:
    spec, identity = description.triggers[name], state.triggers.get(name)
    if identity is None:
        yield steps.create_trigger(name)
        return
    trigger = observed.triggers[identity]
    wanted = spec.members() | {
        "name": name,
        "action_cid": description.cid(spec.action),
        "kind": spec.kind,
        "enabled": spec.enabled,
    }
    differs = [field for field, value in wanted.items() if _plain(getattr(trigger, field)) != value]
    # The service never returns the key of a trigger. If the plan creates a new key, the trigger needs the new key.
    new_key = spec.key not in state.keys
    # To change the action, the triggers service requires the secret of the key again.
    with_key = new_key or "action_cid" in differs
    if new_key:
        differs.append("usage key")
    if differs:
        yield steps.update_trigger(name, f"correct {', '.join(differs)}", with_key=with_key)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def _prune(description: Description, observed: Observed, state: State, lost: tuple[str, str] | None) -> Iterator[Step]:
    kept_keys = {state.keys.get(name) for name in description.keys} | ({lost[1]} if lost else set())
    for hashed, key in observed.keys.items():
        if hashed not in kept_keys:
            yield steps.remove_key(key.name or hashed, hashed, "delete, because the description does not contain it")
    kept_groups = {state.groups.get(name) for name in description.groups}
    for number, group in observed.groups.items():
        if number not in kept_groups:
            yield steps.remove_group(group.name or str(number), number)
    kept_actions = {description.action_hash(name) for name in description.actions}
    for hashed, action in observed.actions.items():
        if hashed not in kept_actions and not action.is_wildcard:
            yield steps.delete_action(action.name or hashed, hashed)
