"""Keys, groups and credit in both account modes: random sequences of calls, compared with a model of the specification.

`SVC_MODEL_EXAMPLES` sets the number of sequences. The default is small.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from svcnb import Action, LocalSigner

if TYPE_CHECKING:
    from svcnb.launch import Emulator
    from tests.api.conftest import Wire

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]
ACTIONS = [Action(f"const main = () => {number};") for number in range(3)]
PLACES = st.integers(0, 9)
WHICH = st.integers(0, len(ACTIONS) - 1)
STARTER_CENTS = 9
SLOW_S = 60
"""Maximum cost of a run in cents, which is more than the seconds that any of these runs takes on any machine."""


@dataclass
class Key:
    """Usage key as in docs/service/resources.md#usage-key."""

    text: str
    executes: set[int]
    manages: set[int]
    creates: bool
    removed: bool = False


@dataclass
class Model:
    """Expected state of the account."""

    groups: dict[int, set[int]] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    credit: int = 0
    secured: bool = False

    def permits(self, groups: set[int], action: int) -> bool:
        """Returns whether a list of groups permits an action.

        0 means all groups (docs/service/resources.md#usage-key).
        """
        return 0 in groups or any(action in self.groups.get(group, set()) for group in groups)


class Service(RuleBasedStateMachine):
    """State machine of one account, its keys and their users."""

    emulator: Emulator
    wire: Wire

    @initialize()
    def open_account(self) -> None:
        made = self.wire.ok("new_account", body={"account_name": "model"})
        self.master, self.wallet = made["api_key"], made["wallet_address"]
        self.model = Model()
        self.model.credit = STARTER_CENTS  # so little credit that a sequence can use all of it
        self.owner: Any = None

    # --- expected responses -----------------------------------------------------------------------------------------

    @property
    def affordable(self) -> bool:
        return self.model.credit >= 1

    def manage(self, path: str, key: str, body: Any, *, allowed: bool, known: bool = True) -> Any:
        """Checks a management call: 401, 402, 403 or success, in this order (docs/service/http.md#errors)."""
        answer = self.wire.post(path, key, body)
        expected = 401 if not known else 402 if not self.affordable else 200 if allowed else 403
        assert answer.status_code == expected, (path, expected, answer.text)
        if expected == 200:
            self.model.credit -= 1
            return answer.json()
        return None

    def some_key(self, place: int) -> Key | None:
        return self.model.keys[place % len(self.model.keys)] if self.model.keys else None

    def some_group(self, place: int) -> int | None:
        known = list(self.model.groups)
        return known[place % len(known)] if known else None

    def caller(self, place: int) -> tuple[str, Key | None]:
        """Returns the account key or a usage key."""
        key = self.some_key(place) if place % 3 else None
        return (key.text, key) if key else (self.master, None)

    # --- rules ------------------------------------------------------------------------------------------------------

    @rule(who=PLACES, permitted=st.sets(WHICH))
    def add_group(self, who: int, permitted: set[int]) -> None:
        text, key = self.caller(who)
        known = key is None or not key.removed
        # The service itself can no longer write to an account that a wallet owns, even with a permitted key.
        allowed = not self.model.secured and (key is None or key.creates)
        hashes = [ACTIONS[number].hashed_cid for number in permitted]
        body = {"group_name": "g", "group_description": "", "cid_hashes_permitted": hashes}
        made = self.manage("add_group", text, body, allowed=allowed, known=known)
        if made:
            self.model.groups[int(made["group_id"])] = set(permitted)

    @precondition(lambda self: self.model.groups)
    @rule(who=PLACES, group=PLACES, action=WHICH, adding=st.booleans())
    def change_group(self, who: int, group: int, action: int, adding: bool) -> None:  # noqa: FBT001
        text, key = self.caller(who)
        place = self.some_group(group)
        assert place is not None
        known = key is None or not key.removed
        allowed = not self.model.secured and (key is None or bool(key.manages & {0, place}))
        if adding:
            body: dict[str, Any] = {"group_id": place, "action_ipfs_cid": ACTIONS[action].cid}
            if self.manage("add_action_to_group", text, body, allowed=allowed, known=known):
                self.model.groups[place].add(action)
        elif action in self.model.groups[place]:
            body = {"group_id": place, "hashed_cid": ACTIONS[action].hashed_cid}
            if self.manage("remove_action_from_group", text, body, allowed=allowed, known=known):
                self.model.groups[place].discard(action)

    @rule(everywhere=st.booleans(), groups=st.lists(PLACES, max_size=2), creates=st.booleans(), manages=st.booleans())
    def add_key(self, everywhere: bool, groups: list[int], creates: bool, manages: bool) -> None:  # noqa: FBT001
        named = {found for place in groups if (found := self.some_group(place)) is not None}
        executes = {0} if everywhere else named
        body = {
            "name": "k",
            "description": "",
            "can_create_groups": creates,
            "execute_in_groups": sorted(executes),
            "manage_ipfs_ids_in_groups": sorted(named) if manages else [],
        }
        made = self.manage("add_usage_api_key", self.master, body, allowed=not self.model.secured)
        if made:
            key = Key(made["usage_api_key"], executes, named if manages else set(), creates)
            self.model.keys.append(key)

    @precondition(lambda self: any(not key.removed for key in self.model.keys))
    @rule(place=PLACES, who=PLACES)
    def remove_key(self, place: int, who: int) -> None:
        living = [key for key in self.model.keys if not key.removed]
        key = living[place % len(living)]
        text, by = self.caller(who)
        known = by is None or not by.removed
        allowed = by is None and not self.model.secured
        if self.manage("remove_usage_api_key", text, {"usage_api_key": key.text}, allowed=allowed, known=known):
            key.removed = True

    @rule(who=PLACES, action=WHICH)
    def run(self, who: int, action: int) -> None:
        text, key = self.caller(who)
        answer = self.wire.post("svc_action", text, {"code": ACTIONS[action].source, "js_params": None})
        permitted = key is None or self.model.permits(key.executes, action)
        known = key is None or not key.removed
        expected = 401 if not known else 402 if not self.affordable else 200 if permitted else 403
        assert answer.status_code == expected, (expected, answer.text)
        if expected == 200:
            assert answer.json()["response"] == action
            left = self.credit()
            assert 1 <= self.model.credit - left <= SLOW_S
            self.model.credit = left

    @rule()
    def pay(self) -> None:
        intent = self.wire.ok("billing/create_payment_intent", self.master, {"amount_cents": 500})
        name = intent["payment_intent_id"]
        refused = self.wire.post("billing/confirm_payment", self.master, {"payment_intent_id": name})
        assert refused.status_code == 400, "credited before it was paid"
        self.wire.control(f"/processor/{name}", {"outcome": "succeeded"})
        self.wire.ok("billing/confirm_payment", self.master, {"payment_intent_id": name})
        again = self.wire.post("billing/confirm_payment", self.master, {"payment_intent_id": name})
        assert again.status_code == 400, "credited twice"
        self.model.credit += 500

    @precondition(lambda self: not self.model.secured and self.model.keys)
    @rule()
    def convert(self) -> None:
        owner = LocalSigner.random()
        self.emulator.faucet(owner.address)
        self.owner = self.emulator.client(api_key=self.master).accounts.convert(owner, confirm=True)
        self.model.secured = True

    @precondition(lambda self: self.model.secured and self.model.groups)
    @rule(group=PLACES, action=WHICH)
    def owner_permits(self, group: int, action: int) -> None:
        """The owner writes on chain, so the service charges nothing."""
        place = self.some_group(group)
        assert place is not None
        self.owner.groups.add_action(place, ACTIONS[action])
        self.model.groups[place].add(action)

    @precondition(lambda self: self.model.secured and any(not key.removed for key in self.model.keys))
    @rule(place=PLACES)
    def owner_removes_a_key(self, place: int) -> None:
        living = [key for key in self.model.keys if not key.removed]
        key = living[place % len(living)]
        self.owner.usage_keys.delete(key.text)
        key.removed = True

    # --- invariants -------------------------------------------------------------------------------------------------

    def credit(self) -> int:
        return -int(self.wire.listed("billing/balance", self.master)["balance_cents"])

    @invariant()
    def the_balance_is_the_models(self) -> None:
        if hasattr(self, "model"):
            assert self.credit() == self.model.credit

    @invariant()
    def reading_is_free_and_shows_what_there_is(self) -> None:
        if hasattr(self, "model"):
            groups = self.wire.listed("list_groups", self.master, page_number=0, page_size=100)
            assert [int(group["id"], 16) for group in groups] == list(self.model.groups)
            keys = self.wire.listed("list_api_keys", self.master, page_number=0, page_size=100)
            assert len(keys) == sum(not key.removed for key in self.model.keys)


def test_no_sequence_of_calls_breaks_permissions_or_credit_in_either_mode(local: Any) -> None:
    from svcnb.launch import Emulator

    wire = local(starter_credits=STARTER_CENTS)

    class Machine(Service):
        pass

    Machine.wire = wire
    Machine.emulator = Emulator.connect(wire.base_url, control_token=wire.control_token)  # type: ignore[assignment]
    examples = int(os.environ.get("SVC_MODEL_EXAMPLES", "4"))
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=16,
            deadline=None,
            derandomize=examples <= 4,
            suppress_health_check=list(HealthCheck),
        ),
    )
