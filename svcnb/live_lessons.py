"""Support for lessons on a live service or in a browser page: requirements, confirmation and skipped cells.

A live service has no reset, no frozen clock and no injected faults, and its calls cost money. A lesson therefore needs
one confirmation before it starts. During the lesson, a transformer analyses every cell before IPython runs the cell.
The transformer skips cells that use functions of the emulator, and cells that use a name from a skipped cell.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from svcnb.brief import ipython_shell
from svcnb.client import Client
from svcnb.client.errors import NotConfirmed, OutOfCredit, TraceUnavailable
from svcnb.client.models.accounts import Account
from svcnb.client.models.billing import Balance, Payment
from svcnb.client.resources.accounts import Accounts
from svcnb.client.resources.billing import Billing
from svcnb.client.secret import Secret
from svcnb.control import EmulatorError

if TYPE_CHECKING:
    from svcnb.client import AsyncClient
    from svcnb.client.triggers import TriggersClient


class Live(NamedTuple):
    """Requirements of a lesson on a live service.

    Args:
        cents: Approximate cost in US cents.
        needs: Requirements in addition to an account with credit, as a sentence, or an empty string.
        skips: Description of the skipped cells, as part of a sentence, or an empty string.
        own_wallet: Whether the learner needs their own wallet, because the practice keys are public.
    """

    cents: int
    needs: str = ""
    skips: str = ""
    own_wallet: bool = False

    @property
    def text(self) -> str:
        """Costs, requirements and skipped cells of the lesson on a live service, as sentences for learners."""
        cost = f"costs about {self.cents} cents" if self.cents else "is free"
        skipped = f"On a live service, it skips {self.skips}." if self.skips else ""
        parts = [f"This lesson can run on a live service, where it {cost}.", self.needs, skipped]
        return " ".join(filter(None, parts))


LIVE: Final[dict[str, Live]] = {
    "quickstart": Live(10),
    "actions-and-cids": Live(15),
    "keys": Live(30, skips="the cell that shows which keys an action used"),
    "groups": Live(25, "It shows the errors for insufficient credit only if your account has no credit."),
    "typed-data": Live(0, skips="the cells that move the clock"),
    "chain-secured": Live(
        10,
        "It needs your own wallet as `owner`, which must be able to pay for gas.",
        "the cells that use practice keys or the faucet, and the cells that move the clock. Until you set `owner`, it "
        "also skips the cells that need `owner`",
        own_wallet=True,
    ),
    "webhooks": Live(
        20, "It needs the URL of a triggers service in `SVC_TRIGGERS_URL`, and your approval in a browser."
    ),
    "history": Live(20, skips="the cells of the section *The runs of one day*"),
    "batches": Live(60, skips="the cells of *A busy service* and *Insufficient credit*"),
}
"""Lessons that can run on a live service, by the name in their first cell.

All other lessons use an emulator on this computer.
"""

CONFIRMED: Final = "live"
"""Value of ``SVC_LESSONS`` that confirms all lessons, for unattended runs."""


class NotAnEmulator(EmulatorError):
    """Error for a call that needs an emulator, in a lesson on a live service. A live service has no control plane."""


class LiveService:
    """Live service that a lesson uses instead of an emulator. The environment contains its address and your key."""

    def __init__(self, base_url: str) -> None:
        self.base_url: str = base_url.rstrip("/")

    def __repr__(self) -> str:
        """Returns the address, because readers must see which live service the lesson uses."""
        return f"LiveService({self.base_url!r})"

    def __getattr__(self, name: str) -> Any:
        """Raises an error that explains why a method of the emulator is missing."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotAnEmulator(
            f"a live service has no {name!r}: only an emulator has functions that control the service",
            hint="Unset SVC_BASE_URL and run the lesson from its first cell to use an emulator.",
        )

    def client(self, **options: Any) -> Client:
        """Returns a client of this service. The arguments are the same as for `svcnb.Client`."""
        options.setdefault("base_url", self.base_url)
        client = LiveClient(**options)
        # As with an emulator, the client uses only the key in its arguments. `accounts.create` returns the key of
        # SVC_API_KEY.
        return client if "api_key" in options else client.with_key(None)

    def async_client(self, **options: Any) -> AsyncClient:
        """Returns an asynchronous client of this service. The arguments are those of `svcnb.AsyncClient`."""
        from svcnb.client import AsyncClient

        options.setdefault("base_url", self.base_url)
        return AsyncClient(**options)

    def triggers(self, label: str = "lesson") -> TriggersClient:  # noqa: ARG002 - the person who approves the token names it
        """Returns a client of the triggers service. A person must approve the client's token in a browser.

        Args:
            label: Has no effect, because the person who approves the token enters its label.

        Raises:
            NotAnEmulator: No triggers service is set.
            TimedOut: No user approved the token within ten minutes.
        """
        from svcnb.client.triggers import TriggersClient

        if not (url := os.environ.get("SVC_TRIGGERS_URL")):
            raise NotAnEmulator(
                "no triggers service is configured", hint="Set SVC_TRIGGERS_URL to the address of the triggers service."
            )
        client = TriggersClient(url, token=os.environ.get("SVC_TRIGGERS_TOKEN"))
        client.authorize(open_page=lambda page: print(f"Approve this notebook at {page}"))  # noqa: T201
        return client

    def stop(self) -> None:
        """Has no effect, because other users share the service."""


class LiveClient(Client):
    """Client that never pays automatically, and uses the account of ``SVC_API_KEY`` if that variable is set."""

    @cached_property
    def accounts(self) -> Accounts:
        """Accounts of the service. If ``SVC_API_KEY`` is set, `create` returns the account of that key."""
        return _Accounts(self._session)

    @cached_property
    def billing(self) -> Billing:
        """Credit of the account.

        `top_up` starts a payment only if the account has no credit. A person must complete the payment.
        """
        return _Billing(self._session)


class _Accounts(Accounts):
    def create(self, name: str, *arguments: Any, **options: Any) -> Account:
        if not (key := os.environ.get("SVC_API_KEY")):
            return super().create(name, *arguments, **options)
        with Client(api_key=key) as client:
            master = client.wallets.list()[0]
        print("The lesson uses the account of SVC_API_KEY. No account was created.")  # noqa: T201 - a notebook's text
        return Account(account_name=name, wallet_address=master.wallet_address, api_key=Secret(key))


class _Billing(Billing):
    def top_up(self, amount_cents: int, **options: Any) -> Payment | Balance:  # type: ignore[override]  # nothing paid
        if (balance := self.balance()).available_cents > 0:
            print("The account has credit. No payment was made.")  # noqa: T201 - as above
            return balance
        options.setdefault("method", "card")
        return self.create_payment_intent(amount_cents, **options)


def begin(name: str, base_url: str, *, confirm: bool) -> LiveService:
    """Starts a lesson on a live service, and returns the service.

    Raises:
        NotConfirmed: The learner has not agreed to the costs. The function sent no call that costs money.
    """
    live = LIVE[name]
    key = "the account of SVC_API_KEY" if os.environ.get("SVC_API_KEY") else "a new account that you add credit to"
    if not (confirm or os.environ.get("SVC_LESSONS") == CONFIRMED):
        raise NotConfirmed(
            f"this lesson requires confirm=True, because it runs on the live service {base_url}",
            consequences=(live.text, f"The lesson uses {key}.", "svcnb has not created or changed an account."),
            hint=f"To start the lesson, call svcnb.lesson({name!r}, confirm=True). To use an emulator, unset "
            f"SVC_BASE_URL.",
        )
    _install(Skipper, live)
    return LiveService(base_url)


def end() -> None:
    """Removes the transformer that skips cells, so that IPython runs all later cells. Repeated calls have no effect."""
    if (shell := ipython_shell()) is not None:
        shell.ast_transformers[:] = [each for each in shell.ast_transformers if not isinstance(each, Skipper)]


class Skipper:
    """IPython AST transformer that skips cells that cannot run on a live service.

    Instead of a skipped cell, IPython runs code that prints the reason.

    Args:
        live: Requirements of the lesson, or None if the lesson does not run on a live service.
        names: The notebook's variables.

    Attributes:
        missing: Names that are not defined, because their cells were skipped or stopped early.
    """

    NAME: Final = "_svcnb_live"
    TITLE: ClassVar = "Skipped on a live service"
    REASONS: ClassVar[tuple[type[Exception], ...]] = (EmulatorError, TraceUnavailable, OutOfCredit)
    """Errors that can stop a cell on a live service without a mistake of the learner."""

    def __init__(self, live: Live | None, names: dict[str, Any]) -> None:
        self._live = live
        self._names = names
        self.missing: set[str] = set()

    def visit(self, cell: ast.Module) -> ast.Module:
        """Returns the code that IPython runs for a cell.

        The code is the cell's code with a handler for expected errors, or code that prints why the cell is skipped. A
        cell that starts a lesson stays unchanged.
        """
        made = set(_made(cell))
        if _begins_a_lesson(cell):
            return cell
        self._names[self.NAME] = self
        if reason := self._reason(cell):
            self.missing |= made
            return ast.fix_missing_locations(ast.Module([_call(self.NAME, "notice", ast.Constant(reason))], []))
        self.missing -= made
        return ast.fix_missing_locations(ast.Module([_guarded(cell.body, sorted(made))], [])) if cell.body else cell

    def notice(self, reason: str) -> None:
        """Prints why a cell was skipped or stopped early."""
        print(f"{self.TITLE}: {reason}")  # noqa: T201 - a notebook's text

    def failed(self, error: Exception, made: Iterable[str]) -> None:
        """Records that the service or the page stopped a cell early, and prints the reason.

        Later cells that use one of the names that the cell binds are skipped.
        """
        self.missing |= set(made)
        self.notice(self._sentence(error))

    def _sentence(self, error: Exception) -> str:
        return f"{getattr(error, 'message', error)}. {getattr(error, 'hint', '') or ''}".strip()

    @staticmethod
    def show(value: object) -> None:
        """Displays the value of a cell's last line, as IPython does."""
        sys.displayhook(value)

    def _reason(self, cell: ast.Module) -> str:
        for node in ast.walk(cell):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                service = self._names.get(node.value.id)
                if (
                    isinstance(service, LiveService)
                    and not hasattr(type(service), node.attr)
                    and node.attr != "base_url"
                ):
                    return f"{node.value.id}.{node.attr} requires an emulator."
                if node.attr == "practice_key" and self._live is not None and self._live.own_wallet:
                    return (
                        "the practice keys are public. In a new cell, assign your own wallets to the variables of this "
                        "cell."
                    )
        if needed := sorted(self.missing & set(_needed(cell))):
            return f"this cell requires {', '.join(needed)}, which a skipped cell defines."
        return ""


class PageSkipper(Skipper):
    """Version of `Skipper` for a browser page. A page does not have some packages, and cannot start processes."""

    TITLE: ClassVar = "Skipped on this page"
    REASONS: ClassVar[tuple[type[Exception], ...]] = (ImportError,)

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return f"the page does not contain {error.name.partition('.')[0]}. Run this cell with a local svcnb."
        return super()._sentence(error)


def begin_in_page() -> None:
    """Enables the skipping of cells that need a package or a process that a browser page does not have."""
    _install(PageSkipper, None)


def _install(kind: type[Skipper], live: Live | None) -> None:
    """Registers the transformer for all later cells. Outside IPython, the function has no effect."""
    end()
    if (shell := ipython_shell()) is not None:
        shell.ast_transformers.append(kind(live, shell.user_ns))


def _guarded(body: list[ast.stmt], made: list[str]) -> ast.Try:
    """Returns the cell's statements inside a handler that prints a notice for the errors in `Skipper.REASONS`."""
    last = body[-1]
    if isinstance(last, ast.Expr):
        body = [*body[:-1], ast.copy_location(_call(Skipper.NAME, "show", last.value), last)]
    names = ast.List([ast.Constant(name) for name in made], ast.Load())
    caught = _call(Skipper.NAME, "failed", ast.Name("_svcnb_error", ast.Load()), names)
    reasons = ast.Attribute(ast.Name(Skipper.NAME, ast.Load()), "REASONS", ast.Load())
    return ast.Try(body, [ast.ExceptHandler(reasons, "_svcnb_error", [caught])], [], [])


def _call(name: str, method: str, *arguments: ast.expr) -> ast.Expr:
    function = ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load())
    return ast.Expr(ast.Call(function, list(arguments), []))


def _begins_a_lesson(cell: ast.Module) -> bool:
    calls = (node.func for node in ast.walk(cell) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Attribute) and function.attr == "lesson" for function in calls)


def _made(cell: ast.Module) -> Iterable[str]:
    """Yields the names that a cell binds, including those of `%%action NAME`."""
    for node in ast.walk(cell):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run_cell_magic":
            words = [
                word for each in node.args[1:2] if isinstance(each, ast.Constant) for word in str(each.value).split()
            ]
            yield from (word for word in words[:1] if word.isidentifier())


def _needed(cell: ast.Module) -> Iterable[str]:
    """Yields the names that a cell reads before it binds them."""
    names = [node for node in ast.walk(cell) if isinstance(node, ast.Name)]
    first = {node.id: (node.lineno, node.col_offset) for node in reversed(names) if isinstance(node.ctx, ast.Store)}
    for node in names:
        if isinstance(node.ctx, ast.Load):
            bound = first.get(node.id)
            # Python evaluates the right side of an assignment first, so also yield names that the same line binds.
            if bound is None or (node.lineno, node.col_offset) < bound or node.lineno == bound[0]:
                yield node.id
