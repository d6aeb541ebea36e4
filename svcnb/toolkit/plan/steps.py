"""Steps of a plan, with their effect, text and cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import everything
from svcnb.protocol.wire.values import WILDCARD_ADDRESS
from svcnb.toolkit import cost
from svcnb.toolkit.plan.description import EVERYTHING, MASTER, Description

if TYPE_CHECKING:
    from svcnb.toolkit.plan.observed import Observed
    from svcnb.toolkit.plan.secrets import Secrets
    from svcnb.toolkit.plan.state import State

Sign = Literal["+", "~", "-"]
Kind = Literal["action", "wallet", "group", "key", "trigger"]


@dataclass(frozen=True)
class Step:
    """Step of a plan. Each step makes one change to the account.

    Attributes:
        sign: ``+`` for a new resource or a new entry of a group, ``~`` for a change, ``-`` for a removal.
        kind: Kind of resource: ``action``, ``wallet``, ``group``, ``key`` or ``trigger``.
        name: Name in the description, or the name at the service if the description does not contain the resource.
        says: Effect of the step, as text.
        cents: Cost in API mode if the step succeeds, in cents.
        gas: Estimated units of gas in ChainSecured mode.
        run: Function that performs the step.
    """

    sign: Sign
    kind: Kind
    name: str
    says: str
    cents: int
    gas: int
    run: Callable[[Execution], None] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.sign} {self.kind} {self.name}: {self.says}"


@dataclass
class Execution:
    """Context in which steps run: the account, the names, and the store of secrets."""

    svc: Any
    description: Description
    state: State
    observed: Observed
    secrets: Secrets
    triggers: Any = None
    made_wallets: list[str] = field(default_factory=list)

    # --- lookup by name ---------------------------------------------------------------------------------------------

    def address(self, name: str) -> str:
        """Returns the address of the wallet with the given name."""
        if name == EVERYTHING:
            return WILDCARD_ADDRESS
        return self.observed.master() if name == MASTER else self.state.wallets[name]

    def _of_group(self, name: str) -> dict[str, Any]:
        spec = self.description.groups[name]
        return {
            "description": spec.description,
            "actions": [everything if each == EVERYTHING else self.description.action(each) for each in spec.actions],
            "wallets": [self.address(each) for each in spec.wallets],
        }

    def _of_key(self, name: str) -> dict[str, Any]:
        spec = self.description.keys[name]
        lists = {
            field: [everything if each == EVERYTHING else self.state.groups[each] for each in names]
            for field, names in spec.lists().items()
        }
        return {"description": spec.description, **lists, **spec.flags()}

    # --- creations, recorded before the request and after the response ---------------------------------------------

    def create_wallet(self, name: str) -> None:
        """Creates a wallet, and records its address in the state."""
        self.state.begin("wallets", name, (*self.observed.wallets, *self.made_wallets))
        # In ChainSecured mode, the contract stores a name for each wallet.
        wallet = self.svc.wallets.create(name) if self.observed.on_chain else self.svc.wallets.create()
        self.made_wallets.append(wallet.wallet_address)
        self.state.end("wallets", name, wallet.wallet_address)

    def create_group(self, name: str) -> None:
        """Creates a group with its actions and wallets, and records its id in the state."""
        self.state.begin("groups", name, tuple(str(number) for number in self.observed.groups))
        group = self.svc.groups.create(name, **self._of_group(name))
        self.state.end("groups", name, group.id)

    def update_group(self, name: str) -> None:
        """Replaces the name, description, actions and wallets of a group."""
        self.svc.groups.update(self.state.groups[name], name=name, **self._of_group(name))

    def create_key(self, name: str) -> None:
        """Creates a usage key. The method stores the secret of the key before the state records the key as created."""
        self.state.begin("keys", name, tuple(self.observed.keys))
        key: UsageKey = self.svc.usage_keys.create(name, **self._of_key(name))
        self.secrets.keep(name, key.usage_api_key.reveal() if key.usage_api_key else "")
        self.state.end("keys", name, key.api_key_hash)

    def update_key(self, name: str) -> None:
        """Replaces the name, description and permissions of a usage key."""
        self.svc.usage_keys.update(self.state.keys[name], name=name, **self._of_key(name))

    def create_trigger(self, name: str) -> None:
        """Creates a trigger, and then disables the trigger if the description contains ``enabled = false``."""
        spec = self.description.triggers[name]
        self.state.begin("triggers", name, tuple(self.observed.triggers))
        action, key = self.description.action(spec.action), self.secrets.of(spec.key)
        trigger = self.triggers.create(name, action, key, spec.kind, **spec.members())
        self.state.end("triggers", name, trigger.id)
        if not spec.enabled:
            self.triggers.disable(trigger.id)

    def update_trigger(self, name: str, *, with_key: bool) -> None:
        """Replaces the settings of a trigger, and also its usage key if `with_key` is true."""
        spec = self.description.triggers[name]
        key = {"usage_key": self.secrets.of(spec.key)} if with_key else {}
        self.triggers.update(
            self.state.triggers[name],
            name=name,
            action=self.description.action(spec.action),
            kind=spec.kind,
            enabled=spec.enabled,
            **key,
            **spec.members(),
        )


# --- steps ------------------------------------------------------------------------------------------------------------


def register_action(description: Description, name: str, *, anew: bool) -> Step:
    """Returns the step that registers an action, or updates its name and description."""
    spec = description.actions[name]

    def run(execution: Execution) -> None:
        execution.svc.actions.register(description.action(name), name=name, description=spec.description)

    says = "register" if anew else "correct name or description"
    return Step("+" if anew else "~", "action", name, says, *_price("actions.register"), run)


def create_wallet(name: str) -> Step:
    """Returns the step that creates a wallet."""
    return Step("+", "wallet", name, "create", *_price("wallets.create"), lambda it: it.create_wallet(name))


def create_group(description: Description, name: str) -> Step:
    """Returns the step that creates a group."""
    spec = description.groups[name]
    price = _price("groups.create", actions=len(spec.actions), wallets=len(spec.wallets))
    says = f"create with {_count(len(spec.actions), 'action')} and {_count(len(spec.wallets), 'wallet')}"
    return Step("+", "group", name, says, *price, lambda it: it.create_group(name))


def update_group(description: Description, name: str, why: str) -> Step:
    """Returns the step that replaces the name, description, actions and wallets of a group."""
    spec = description.groups[name]
    price = _price("groups.update", actions=len(spec.actions), wallets=len(spec.wallets))
    return Step("~", "group", name, f"replace: {why}", *price, lambda it: it.update_group(name))


def permit_action(name: str, action: str) -> Step:
    """Returns the step that adds an action to a group."""
    return _member("+", name, "add_action", f"permit action {action}", lambda it: it.description.action(action))


def permit_wallet(name: str, wallet: str) -> Step:
    """Returns the step that adds a wallet to a group."""
    return _member("+", name, "add_wallet", f"permit wallet {wallet}", lambda it: it.address(wallet))


def withdraw_action(name: str, hashed: str, label: str) -> Step:
    """Returns the step that removes an action from a group."""
    return _member("-", name, "remove_action", f"remove action {label}", lambda _: hashed)


def withdraw_wallet(name: str, address: str, label: str) -> Step:
    """Returns the step that removes a wallet from a group."""
    return _member("-", name, "remove_wallet", f"remove wallet {label}", lambda _: address)


def _member(sign: Sign, name: str, method: str, says: str, member: Callable[[Execution], Any]) -> Step:
    """Returns the step that adds an action or a wallet to a group, or that removes an entry from the group."""

    def run(it: Execution) -> None:
        getattr(it.svc.groups, method)(it.state.groups[name], member(it))

    return Step(sign, "group", name, says, *_price(f"groups.{method}"), run)


def create_key(name: str) -> Step:
    """Returns the step that creates a usage key."""
    return Step("+", "key", name, "create", *_price("usage_keys.create"), lambda it: it.create_key(name))


def update_key(name: str, why: str) -> Step:
    """Returns the step that replaces the name, description and permissions of a usage key."""
    return Step("~", "key", name, why, *_price("usage_keys.update"), lambda it: it.update_key(name))


def remove_key(name: str, hashed: str, why: str, *, begun: bool = False) -> Step:
    """Returns the step that deletes a usage key.

    If `begun` is true, the step also removes the interrupted creation of the key from the state.
    """

    def run(execution: Execution) -> None:
        execution.svc.usage_keys.delete(hashed)
        if begun:
            execution.state.clear_begun()

    return Step("-", "key", name, why, *_price("usage_keys.delete"), run)


def create_trigger(name: str) -> Step:
    """Returns the step that creates a trigger. The step is free."""
    return Step("+", "trigger", name, "create", 0, 0, lambda it: it.create_trigger(name))


def update_trigger(name: str, why: str, *, with_key: bool) -> Step:
    """Returns the step that replaces the settings of a trigger. The step is free."""
    return Step("~", "trigger", name, why, 0, 0, lambda it: it.update_trigger(name, with_key=with_key))


def remove_group(name: str, number: int) -> Step:
    """Returns the step that deletes a group that the description does not contain."""
    says = "delete, because the description does not contain it"
    return Step("-", "group", name, says, *_price("groups.delete"), lambda it: it.svc.groups.delete(number))


def delete_action(name: str, hashed: str) -> Step:
    """Returns the step that deletes an action that the description does not contain."""
    says = "delete, because the description does not contain it"
    return Step("-", "action", name, says, *_price("actions.delete"), lambda it: it.svc.actions.delete(hashed))


def _price(verb: str, *, actions: int = 0, wallets: int = 0) -> tuple[int, int]:
    """Returns the cost of a change in cents and in gas."""
    cents = cost.of_call(verb, actions=actions, wallets=wallets).cents
    return cents, cost.gas_of(verb, actions=actions, wallets=wallets)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
