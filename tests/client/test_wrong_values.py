"""A public call with any wrong value returns, or raises an `SvcnbError`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Literal

import pytest

import svcnb
from svcnb.checked import Checked, checked

WRONG: tuple[Any, ...] = (
    None, True, -1, 1.5, "", "\x00", "0x12", b"\xff", [], {}, object(), math.nan, "x" * 10_000, 10**400, "\ud800",
)  # fmt: skip
WAITS = {"timeout", "open_page", "start_timeout"}
"""Arguments that make a call wait, or open a browser."""

NOT_CALLED = {
    "abandon", "authorize", "close", "connect", "forget", "handle", "remove", "reset", "stop", "wait", "wait_for_run",
}  # fmt: skip
"""Methods that stop or wait for objects of the test, and deprecated names."""

OF_THE_CLIENT = ("accounts", "actions", "billing", "chain_secured", "groups", "node", "usage_keys", "wallets")


def public_methods(thing: Any) -> Iterator[Callable[..., Any]]:
    for name in dir(type(thing)):
        if not name.startswith("_") and name not in NOT_CALLED:
            found = inspect.getattr_static(type(thing), name)
            ours = getattr(found, "__module__", "svcnb").startswith("svcnb")
            if ours and (callable(found) or isinstance(found, staticmethod)):
                yield getattr(thing, name)


def calls(function: Callable[..., Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yields calls with each wrong value for all required arguments, and for each optional argument."""
    parameters = inspect.signature(function).parameters.values()
    named = [one for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    required = [one for one in named if one.default is one.empty]
    for value in WRONG:
        args = [value for one in required if one.kind is not one.KEYWORD_ONLY]
        keywords = {one.name: value for one in required if one.kind is one.KEYWORD_ONLY}
        yield args, keywords
        for one in named:
            if one.default is not one.empty and one.name not in WAITS:
                yield args, {**keywords, one.name: value}


def surprises(functions: Iterable[Callable[..., Any]], loop: asyncio.AbstractEventLoop | None = None) -> list[str]:
    """Returns all errors that are not errors of this package. Coroutines and asynchronous iterators run in the loop."""
    found = []
    for function in functions:
        for args, keywords in calls(function):
            try:
                with contextlib.suppress(svcnb.SvcnbError):
                    made = function(*args, **keywords)
                    if inspect.isgenerator(made):
                        list(made)
                    elif inspect.isawaitable(made):
                        assert loop is not None
                        loop.run_until_complete(asyncio.wait_for(made, 60))
                    elif hasattr(made, "__anext__"):
                        assert loop is not None
                        loop.run_until_complete(_all(made))
            except Exception as error:  # noqa: BLE001 - any other error is what the test looks for
                if isinstance(error, OSError) and error.filename is not None:
                    continue  # a file that cannot be used is an OSError, as everywhere in Python
                name = getattr(function, "__qualname__", repr(function))
                found.append(f"{name}(*{args!r:.60}, **{keywords!r:.60}): {type(error).__name__}: {error!s:.80}")
    return found


async def _all(made: AsyncIterator[Any]) -> list[Any]:
    return [each async for each in made]


def functions_of(module: str) -> list[Callable[..., Any]]:
    """Returns the public functions of a module, and the public classes whose constructors check their arguments."""
    found = vars(importlib.import_module(module))
    names = found.get("__all__") or [name for name in found if not name.startswith("_")]
    public = [getattr(importlib.import_module(module), name) for name in names]
    return [
        value
        for value in public
        if (inspect.isfunction(value) or (inspect.isclass(value) and issubclass(value, Checked)))
        and f"{value.__module__}.".startswith(f"{module}.")
    ]


def test_public_functions_raise_only_errors_of_this_package() -> None:
    functions = (svcnb.cid, svcnb.hashed_cid, svcnb.parse_cid, svcnb.practice_key, svcnb.recover, svcnb.verify)
    assert surprises(iter(functions)) == []


def test_constructors_raise_only_errors_of_this_package() -> None:
    kinds = (svcnb.Action, svcnb.LocalSigner, svcnb.Secret, svcnb.Vocabulary, svcnb.Client, svcnb.AsyncClient)
    assert surprises(iter((*kinds, svcnb.TriggersClient, svcnb.ContractWallet))) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Action.stamp_in is deprecated:DeprecationWarning")
def test_methods_of_values_and_signers_raise_only_errors_of_this_package(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    signer = svcnb.LocalSigner.from_key("0x" + "11" * 32)
    action = svcnb.Action("async function main() { return 1; }")
    values = (action, svcnb.parse_cid(action.cid), svcnb.Secret("text"), svcnb.Vocabulary())
    with asyncio.Runner() as runner:
        for thing in (*values, signer, svcnb.ContractWallet("0x" + "22" * 20, signer)):
            assert surprises(public_methods(thing), runner.get_loop()) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")
def test_methods_of_clients_and_emulators_raise_only_errors_of_this_package(start_emulator) -> None:
    emulator = start_emulator(starter_credits=100_000)
    anyone = emulator.client()
    svc = anyone.with_key(anyone.accounts.create("wrong values").api_key)
    for resource in OF_THE_CLIENT:
        assert surprises(public_methods(getattr(svc, resource))) == []
    verbs = (svc.run, svc.trace, svc.explain, svc.map, svc.with_key, svc.with_options, svc.with_raw_response)
    assert surprises(iter(verbs)) == []
    assert surprises(public_methods(emulator.triggers())) == []
    assert surprises(public_methods(emulator)) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.chain
@pytest.mark.filterwarnings("ignore")
def test_methods_of_chain_secured_accounts_raise_only_errors_of_this_package(start_emulator) -> None:
    emulator = start_emulator(starter_credits=100_000)
    svc = emulator.client()
    owner = svcnb.LocalSigner.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "wrong values")
    for thing in (mine.groups, mine.actions, mine.wallets, mine.usage_keys, mine.billing, mine):
        assert surprises(public_methods(thing)) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")
def test_methods_of_asynchronous_clients_raise_only_errors_of_this_package(start_emulator) -> None:
    emulator = start_emulator(starter_credits=100_000)
    anyone = emulator.client()
    key = anyone.accounts.create("wrong values").api_key
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        svc = svcnb.AsyncClient(base_url=emulator.base_url, api_key=key)
        for resource in OF_THE_CLIENT:
            assert surprises(public_methods(getattr(svc, resource)), loop) == []
        assert surprises((svc.run, svc.trace, svc.explain, svc.map, svc.with_key, svc.with_options), loop) == []
        triggers = emulator.async_triggers()
        assert surprises(public_methods(triggers), loop) == []
        runner.run(triggers.close())
        runner.run(svc.close())


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")
def test_batches_raise_only_errors_of_this_package(emulator) -> None:
    anyone = emulator.client()
    svc = anyone.with_key(anyone.accounts.create("wrong values").api_key)
    assert surprises(public_methods(svc.map("const main = () => 1", [{}]))) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "module",
    [
        "svcnb.charts", "svcnb.reports", "svcnb.testing", "svcnb.toolkit.cookbook", "svcnb.toolkit.cost",
        "svcnb.toolkit.drift",
        "svcnb.toolkit.exercises", "svcnb.toolkit.history", "svcnb.toolkit.lint", "svcnb.toolkit.permission_audit",
        "svcnb.toolkit.permissions", "svcnb.toolkit.plan", "svcnb.toolkit.run_feed", "svcnb.toolkit.templates",
        "svcnb.toolkit.trigger_health", "svcnb.workshop",
    ],
)  # fmt: skip
def test_functions_of_subpackages_raise_only_errors_of_this_package(module: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert surprises(functions_of(module)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_methods_of_the_toolkit_raise_only_errors_of_this_package(tmp_path, monkeypatch) -> None:
    from svcnb.toolkit.history import History
    from svcnb.toolkit.permissions import Matrix
    from svcnb.toolkit.templates import Templates

    monkeypatch.chdir(tmp_path)
    assert surprises(public_methods(Matrix(groups=(), actions={}, wallets={}, keys={}))) == []
    assert surprises(public_methods(History(tmp_path / "history.db"))) == []
    assert surprises(public_methods(Templates(tmp_path / "templates.json"))) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")
def test_panels_raise_only_errors_of_this_package(emulator) -> None:
    from svcnb import panels

    anyone = emulator.client()
    svc = anyone.with_key(anyone.accounts.create("wrong values").api_key)
    kinds = [kind for name in panels.__all__ if isinstance(kind := getattr(panels, name), type)]
    kinds = [kind for kind in kinds if issubclass(kind, panels.Panel) and kind is not panels.Panel]
    assert len(kinds) == 7
    assert surprises(kinds) == []
    # Their other methods are commands of the page, whose errors the page shows.
    assert surprises(kind(svc).as_code for kind in kinds) == []


def test_every_public_error_is_in_the_tree_and_exported() -> None:
    errors = [
        value
        for name in svcnb.__all__
        if inspect.isclass(value := getattr(svcnb, name)) and issubclass(value, BaseException)
    ]
    assert [error.__name__ for error in errors if not issubclass(error, svcnb.SvcnbError)] == []
    raised = {name for name in vars(svcnb.client.errors) if name[0].isupper()}
    missing = {
        name
        for name in raised
        if inspect.isclass(value := getattr(svcnb.client.errors, name)) and issubclass(value, svcnb.SvcnbError)
    } - set(svcnb.__all__)
    assert missing - {"Explicable"} == set()


def test_a_wrong_type_is_named_with_what_is_allowed() -> None:
    with pytest.raises(svcnb.InvalidType, match=r"invalid argument number of practice_key: expected int, got str"):
        svcnb.practice_key("one")  # type: ignore[arg-type]  # on purpose


def test_the_allowed_types_are_those_of_an_alias_without_modules() -> None:
    allowed = r"expected Iterable\[Group \| int \| str\] \| Group \| int \| str, got float"
    with svcnb.Client("http://127.0.0.1:9") as svc, pytest.raises(svcnb.InvalidType, match=allowed):
        svc.usage_keys.create("runner", execute_in_groups=5.0)  # type: ignore[arg-type]  # on purpose


def test_the_allowed_words_and_the_given_word_are_shown() -> None:
    @checked
    def inject(part: Literal["chain", "cpu"]) -> None:
        raise TypeError(part)

    with pytest.raises(svcnb.InvalidType, match="expected 'chain' or 'cpu', got 'disk'"):
        inject("disk")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(svcnb.InvalidType, match="expected 'chain' or 'cpu', got str"):  # a long word can be a secret
        inject("x" * 21)  # type: ignore[arg-type]  # on purpose
