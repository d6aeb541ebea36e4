"""`plan` compares a description with an account. `Plan` shows the differences and their cost, and applies them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

from svcnb.client import display
from svcnb.client.errors import InvalidArgument, OutOfCredit, SvcnbError
from svcnb.client.models.billing import dollars
from svcnb.client.progress import bar
from svcnb.toolkit.cost import Cost
from svcnb.toolkit.plan.description import Description
from svcnb.toolkit.plan.difference import difference
from svcnb.toolkit.plan.observed import Observed
from svcnb.toolkit.plan.secrets import Secrets, Sink
from svcnb.toolkit.plan.state import State
from svcnb.toolkit.plan.steps import Execution, Step

if TYPE_CHECKING:
    from svcnb.client.chain_secured.account import ChainSecuredAccount
    from svcnb.client.client import Client
    from svcnb.client.triggers import TriggersClient

SHOWN: Final = 40
"""Maximum number of steps in the display of a plan."""


def plan(
    svc: Client | ChainSecuredAccount,
    description: Description | str | Path | Mapping[str, Any],
    *,
    state: str | Path | None = None,
    prune: bool = False,
    triggers: TriggersClient | None = None,
) -> Plan:
    """Compares a description with an account. Free, because it only reads.

    Args:
        svc: A client with the account's master key, or a ChainSecured account that its owner opened.
        description: A TOML file, or the same in dictionaries.
        state: File that stores which wallet, group and key has which name; beside the TOML file when None. It contains
            no secret.
        prune: Whether groups, keys and actions that are not described are removed. Otherwise they are not changed.
        triggers: A client of the triggers service; needed if triggers are described.

    Raises:
        InvalidArgument: The description is not valid, a name matches several resources, or the state belongs to another
            account.
    """
    if isinstance(description, (str, Path)):
        description = Description.load(description)
    elif not isinstance(description, Description):
        description = Description.of(description)
    path = Path(state) if state is not None else None
    if path is None and description.file is not None:
        path = description.file.with_suffix(".state.json")
    if description.triggers and triggers is None:
        raise InvalidArgument(
            f"{len(description.triggers)} triggers are described, and the triggers service was not given",
            hint="Pass an authorized client of it: plan(..., triggers=svcnb.TriggersClient(...)).",
        )
    return Plan(svc, description, State(path), prune=prune, triggers=triggers)


class Plan(Sequence[Step]):
    """The steps from an account to its description, as returned by `plan`."""

    def __init__(
        self,
        svc: Client | ChainSecuredAccount,
        description: Description,
        state: State,
        *,
        prune: bool,
        triggers: TriggersClient | None = None,
    ) -> None:
        self._svc = svc
        self._triggers = triggers
        self._description = description
        self._state = state
        self._prune = prune
        self._used = False
        self._read()

    def _read(self) -> None:
        self._observed = Observed.of(self._svc, self._triggers)
        self._state.belongs_to(self._observed.account)
        self._steps = list(difference(self._description, self._observed, self._state, prune=self._prune))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def cost(self) -> Cost:
        """Cost of applying it, if everything succeeds."""
        cents = sum(step.cents for step in self._steps)
        if not self._observed.on_chain:
            return Cost.exactly(cents, calls=cents, why=self._counted())
        # The owner's transactions cost gas and no credit (specification 8).
        return Cost(0, 0, 0, calls=cents, gas=sum(step.gas for step in self._steps), why=self._counted())

    @property
    def new_keys(self) -> list[str]:
        """Names of the keys that will be created. Their secrets need a place."""
        return [step.name for step in self._steps if step.kind == "key" and step.sign == "+"]

    def apply(self, *, secrets: Sink | None = None, progress: bool | None = None) -> Plan:
        """Applies the changes. Can be repeated: after a failure, or in another process, it continues where it stopped.

        Args:
            secrets: Where the secrets of new keys are stored. A JSON file that only its owner can read, a dictionary,
                or a function of name and secret. Each secret is stored before the next step. Needed only if keys are
                created, or if triggers get a key that was created earlier.
            progress: Whether to show a progress bar. None shows one in an interactive session if tqdm is installed.

        Returns:
            This plan, with the steps that were done.

        Raises:
            InvalidArgument: Keys would be created, and `secrets` is missing.
            OutOfCredit: The credit does not cover the plan; nothing was changed.
        """
        if self._used:
            self._read()
        if self.new_keys and secrets is None:
            raise InvalidArgument(
                f"{len(self.new_keys)} keys are made ({', '.join(self.new_keys[:3])}…), and each is shown only once",
                hint='Say where they go: apply(secrets="keys.json"), a dictionary, or a function of name and secret.',
            )
        self._require_credit()
        self._used = True
        execution = Execution(
            self._svc, self._description, self._state, self._observed, Secrets(secrets), self._triggers
        )
        with bar(len(self._steps), 0, wanted=progress, unit="step") as shown:
            for done, step in enumerate(self._steps):
                try:
                    step.run(execution)
                except SvcnbError as error:
                    error.add_note(f"{done} of {len(self._steps)} steps are done ({step} is not); apply again to go on")
                    raise
                shown.step(f"{step.kind} {step.name}")
        self._state.save()
        return self

    def _require_credit(self) -> None:
        needed = self.cost.cents
        if not needed:
            return
        try:
            available = self._svc.billing.balance().available_cents
        except SvcnbError:
            return  # whether the credit is sufficient is not known yet
        if available < needed:
            raise OutOfCredit(
                f"the plan costs {dollars(needed)} and the account has {dollars(available)}; nothing was done",
                status=402,
                code="payment_required",
            )

    def _price(self) -> str:
        return f"about {self.cost.gas:,} gas" if self._observed.on_chain else dollars(self.cost.cents)

    def _price_of(self, step: Step) -> str:
        return f"{step.gas:,} gas" if self._observed.on_chain else f"{step.cents} ct"

    def _counted(self) -> str:
        counted = Counter(f"{step.sign}{step.kind}" for step in self._steps)
        return ", ".join(f"{number} × {what}" for what, number in counted.items()) or "nothing to do"  # noqa: RUF001 - a sign of multiplication is meant

    def __repr__(self) -> str:
        if not self._steps:
            return "nothing to do: the account is as described"
        lines = [str(step) for step in self._steps[:SHOWN]]
        if len(self._steps) > SHOWN:
            lines.append(f"and {len(self._steps) - SHOWN} more steps")
        return "\n".join([*lines, f"cost: {self._price()}"])

    def _repr_html_(self) -> str:
        rows = [[step.sign, step.kind, step.name, step.says, self._price_of(step)] for step in self._steps[:SHOWN]]
        table = display.table(
            ["", "what", "name", "step", "cost"], rows, empty="Nothing to do: the account is as described."
        )
        more = f"<div>and {len(self._steps) - SHOWN} more steps</div>" if len(self._steps) > SHOWN else ""
        return f"{table}{more}<div>{escape(str(self.cost))}</div>"
