"""Whatever a public call is given, it answers or raises an `SvcnbError`."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import svcnb

WRONG: tuple[Any, ...] = (
    None, True, -1, 1.5, "", "\x00", "0x12", b"\xff", [], {}, object(), math.nan, "x" * 10_000, 10**400, "\ud800",
)  # fmt: skip
WAITS = {"timeout", "open_page", "start_timeout"}
"""Arguments that make a call wait, or open a browser."""

NOT_CALLED = {
    "abandon", "authorize", "close", "connect", "forget", "handle", "remove", "reset", "stop", "wait", "wait_for_run",
}  # fmt: skip
"""Methods that end or wait for what the test uses, and old names."""

OF_THE_CLIENT = ("accounts", "actions", "billing", "chain_secured", "groups", "node", "usage_keys", "wallets")


def public_methods(thing: Any) -> Iterator[Callable[..., Any]]:
    for name in dir(type(thing)):
        if not name.startswith("_") and name not in NOT_CALLED:
            found = inspect.getattr_static(type(thing), name)
            if callable(found) or isinstance(found, staticmethod):
                yield getattr(thing, name)


def calls(function: Callable[..., Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Every wrong value for all required arguments at once, and beside them for each optional one."""
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


def surprises(functions: Iterator[Callable[..., Any]]) -> list[str]:
    found = []
    for function in functions:
        for args, keywords in calls(function):
            try:
                with contextlib.suppress(svcnb.SvcnbError):
                    made = function(*args, **keywords)
                    if inspect.isgenerator(made):
                        list(made)
            except Exception as error:  # noqa: BLE001 - any other error is what the test looks for
                name = getattr(function, "__qualname__", repr(function))
                found.append(f"{name}(*{args!r:.60}, **{keywords!r:.60}): {type(error).__name__}: {error!s:.80}")
    return found


def test_public_functions_raise_our_errors_alone() -> None:
    functions = (svcnb.cid, svcnb.hashed_cid, svcnb.practice_key, svcnb.recover, svcnb.verify)
    assert surprises(iter(functions)) == []


def test_constructors_raise_our_errors_alone() -> None:
    kinds = (svcnb.Action, svcnb.LocalSigner, svcnb.Secret, svcnb.Vocabulary, svcnb.Client, svcnb.AsyncClient)
    assert surprises(iter((*kinds, svcnb.TriggersClient, svcnb.ContractWallet))) == []


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")
def test_methods_of_clients_and_emulators_raise_our_errors_alone(start_emulator) -> None:
    emulator = start_emulator(starter_credits=100_000)
    anyone = emulator.client()
    svc = anyone.with_key(anyone.accounts.create("wrong values").api_key)
    for noun in OF_THE_CLIENT:
        assert surprises(public_methods(getattr(svc, noun))) == []
    verbs = (svc.run, svc.trace, svc.explain, svc.map, svc.with_key, svc.with_options, svc.with_raw_response)
    assert surprises(iter(verbs)) == []
    assert surprises(public_methods(emulator.triggers())) == []
    assert surprises(public_methods(emulator)) == []


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
