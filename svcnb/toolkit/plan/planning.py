"""Function `plan`, which compares a description with an account, and class `Plan`, which shows and applies changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

from svcnb.brief import NO_MATH
from svcnb.checked import checked
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


@checked
def plan(
    svc: Client | ChainSecuredAccount,
    description: Description | str | Path | Mapping[str, Any],
    *,
    state: str | Path | None = None,
    prune: bool = False,
    triggers: TriggersClient | None = None,
) -> Plan:
    """Compares a description with an account, and returns the plan. The call is free, because the function only reads.

    Args:
        svc: Client with the account key of the account, or a ChainSecured account opened by its owner.
        description: Path of a TOML file, dictionaries with the same structure, or a `Description`.
        state: File that maps names to wallets, groups, keys and triggers, without secrets. None means the file
            ``<name>.state.json`` next to the TOML file, or no file if the description is not a TOML file.
        prune: Whether to delete groups, keys and actions that the description does not contain. Otherwise, these
            resources stay unchanged.
        triggers: Client of the triggers service, which is required if the description contains triggers.

    Raises:
        InvalidArgument: The description or the state file is not valid. The state belongs to another account. A name
            matches several resources. A wallet does not belong to the account, or needs a state file. The argument
            `triggers` is missing.
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
            "the description contains triggers, but the client of the triggers service is missing",
            hint="Pass an authorized client: plan(..., triggers=svcnb.TriggersClient(...)).",
        )
    return Plan(svc, description, State.load(path), prune=prune, triggers=triggers)


class Plan(Sequence[Step]):
    """Result of `plan`: the steps that change the account to match its description."""

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
        """Cost of applying the plan, if all steps succeed."""
        cents = sum(step.cents for step in self._steps)
        if not self._observed.on_chain:
            return Cost.exactly(cents, calls=cents, why=self._counted())
        # Transactions of the owner cost gas but no credit (docs/service/billing.md#prices).
        return Cost(0, 0, 0, calls=cents, gas=sum(step.gas for step in self._steps), why=self._counted())

    @property
    def new_keys(self) -> list[str]:
        """Names of the keys that the plan will create. `apply` stores their secrets in the given store."""
        return [step.name for step in self._steps if step.kind == "key" and step.sign == "+"]

    def apply(self, *, secrets: Sink | None = None, progress: bool | None = None) -> Plan:
        """Applies the changes. After a failure, call the method again to continue, even in another process.

        Args:
            secrets: Store for the secrets of new keys: the path of a JSON file that only its owner can read, a
                dictionary, or a function. The method calls the function with the name and the secret of each key. The
                method stores each secret before the next step. The argument is required if the plan creates keys, or if
                triggers receive a key that an earlier plan created.
            progress: Whether to show a progress bar. None shows a bar in an interactive session if tqdm is installed.

        Returns:
            This plan, with the completed steps.

        Raises:
            InvalidArgument: The plan creates keys, but `secrets` is missing. A trigger needs the secret of a key, but
                the store does not contain this secret.
            OutOfCredit: The credit does not cover the plan. The account is unchanged.
            SvcnbError: A step failed. The note of the error contains the number of completed steps.
        """
        if self._used:
            self._read()
        if self.new_keys and secrets is None:
            more = ", …" if len(self.new_keys) > 3 else ""  # noqa: PLR2004 - number of displayed keys
            raise InvalidArgument(
                f"the secrets of new usage keys ({', '.join(self.new_keys[:3])}{more}) need a destination, because the "
                "service returns each secret only once",
                hint=(
                    'Pass a destination for the secrets: apply(secrets="keys.json"), a dictionary, or a function that '
                    "accepts a name and a secret."
                ),
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
                    error.add_note(
                        f"{done} of {len(self._steps)} steps completed ({step} failed); call apply again to continue"
                    )
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
            return  # it is unknown whether the credit is sufficient
        if available < needed:
            raise OutOfCredit(
                f"the plan costs {dollars(needed)}, but the account has {dollars(available)}; no change was made",
                status=402,
                code="payment_required",
            )

    def _price(self) -> str:
        return f"about {self.cost.gas:,} gas" if self._observed.on_chain else dollars(self.cost.cents)

    def _price_of(self, step: Step) -> str:
        return f"{step.gas:,} gas" if self._observed.on_chain else f"{step.cents} ct"

    def _counted(self) -> str:
        counted = Counter(f"{step.sign}{step.kind}" for step in self._steps)
        return ", ".join(f"{number} × {what}" for what, number in counted.items()) or "no changes needed"  # noqa: RUF001 - the multiplication sign is intended

    def __repr__(self) -> str:
        if not self._steps:
            return "no changes needed: the account matches the description"
        lines = [str(step) for step in self._steps[:SHOWN]]
        if len(self._steps) > SHOWN:
            lines.append(f"and {len(self._steps) - SHOWN} more steps")
        return "\n".join([*lines, f"cost: {self._price()}"])

    def _repr_html_(self) -> str:
        rows = [[step.sign, step.kind, step.name, step.says, self._price_of(step)] for step in self._steps[:SHOWN]]
        table = display.table(
            ["", "what", "name", "step", "cost"], rows, empty="No changes needed: the account matches the description."
        )
        more = f"<div>and {len(self._steps) - SHOWN} more steps</div>" if len(self._steps) > SHOWN else ""
        return f"{table}{more}<div class='{NO_MATH}'>{escape(str(self.cost))}</div>"
