"""Argument parser and error display of magics. Options have the syntax of a command line. Errors are short."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.nesting import parse

_RED: Final = "\x1b[1;31m{}\x1b[0m"
_OPENERS: Final = '{["'


class HelpShown(Exception):
    """Signal that the magic has printed the requested help."""


class Options(argparse.ArgumentParser):
    """Parser that raises an error instead of exiting the process."""

    def error(self, message: str) -> NoReturn:
        """Raises `InvalidArgument` for an invalid line, with the usage of the magic as the hint."""
        raise InvalidArgument(message, hint=f"{self.format_usage().strip()}\n{self.prog} --help explains each option.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - argparse's signature
        """Raises `HelpShown`, so that a line with ``--help`` does not exit the process."""
        raise HelpShown

    def read(self, line: str) -> argparse.Namespace:
        """Returns the options of a line. As in a shell, quotation marks enclose a word that contains spaces."""
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise InvalidArgument(
                f"the line cannot be parsed: {error}",
                hint="Close every quotation mark, and write JSON in single quotation marks.",
            ) from None
        return self.parse_args(words)

    @property
    def flags(self) -> dict[str, str]:
        """Help texts of all options by name, for completion."""
        return {
            option: (action.help or "").replace("%%", "%")
            for action in self._actions
            for option in action.option_strings
            if option.startswith("--")
        }


def as_magic(function: Callable[..., Any], told: str) -> Callable[..., Any]:
    """Returns a magic that passes its line unchanged to a function, and shows errors without a traceback.

    By default, IPython replaces ``{name}`` and ``$name`` in lines of magics with variables. The returned magic disables
    this replacement, because JSON and JavaScript also use this syntax. IPython shows the text ``told`` as the help of
    the magic.
    """
    from IPython.core.magic import no_var_expand

    def magic(*args: str) -> Any:
        try:
            return function(*args)
        except HelpShown:
            return None
        except (SvcnbError, MalformedValue, OSError) as error:
            # IPython uses an error's own rendering if it exists. IPython's traceback would only show internal frames.
            text = "\n".join([str(error), *getattr(error, "__notes__", [])])
            error.__dict__["_render_traceback_"] = _Brief(type(error).__name__, text)
            raise

    magic.__doc__ = told
    return no_var_expand(magic)


class _Brief:
    """Function object that returns an error's text to IPython. It is a class, because a closure cannot be pickled."""

    def __init__(self, title: str, text: str) -> None:
        self._lines = [f"{_RED.format(title)}: {text}"]

    def __call__(self) -> list[str]:
        return self._lines


def value_of(text: str, names: Mapping[str, Any], what: str) -> Any:
    """Returns the value of a notebook variable, or parses JSON text.

    Args:
        text: Name of a variable, or JSON text.
        names: The notebook's variables.
        what: Purpose of the value, for error messages.

    Raises:
        InvalidArgument: The text is neither the name of a variable nor valid JSON.
    """
    if text.isidentifier() and text in names:
        return names[text]
    try:
        return parse(text)
    except ValueError as error:
        if text.isidentifier():
            raise InvalidArgument(
                f"invalid value {text!r} for {what}: expected JSON or a variable of this notebook",
                hint=(
                    "Run the cell that defines the variable, or write JSON with strings in double quotation marks and "
                    "the whole value in single quotation marks."
                ),
            ) from None
        raise InvalidArgument(
            f"invalid JSON {text!r} for {what}: {error}",
            hint="""Write JSON in single quotation marks, for example '{"n": 41}', or pass the name of a variable.""",
        ) from None


def parameters(words: Sequence[str], names: Mapping[str, Any]) -> Any:
    """Returns the parameters of ``main`` from the words of a line.

    The words are one JSON value or variable, words ``name=value``, or both. Words ``name=value`` set fields of the
    value. Without any words, the result is None.

    The function parses valid JSON after ``=``, and replaces ``@name`` with the value of a variable. Any other text is a
    string.

    Example:
        >>> parameters(["n=3", "to=0xab", 'deep={"a": 1}'], {})
        {'n': 3, 'to': '0xab', 'deep': {'a': 1}}
    """
    members: dict[str, Any] = {}
    whole: list[Any] = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and word[0] not in _OPENERS:
            members[name] = _member(name, value, names)
        else:
            whole.append(value_of(word, names, "the parameters"))
    if len(whole) > 1:
        raise InvalidArgument(
            f"expected one JSON value or variable as parameters, got {len(whole)}",
            hint="Write one JSON value or variable, followed by name=value.",
        )
    if not whole:
        return members or None
    if members and not isinstance(whole[0], Mapping):
        raise InvalidArgument(
            f"name=value can only be combined with an object, not with a value of type {type(whole[0]).__name__}",
            hint="Pass an object, or only name=value.",
        )
    return {**whole[0], **members} if members else whole[0]


def _member(name: str, value: str, names: Mapping[str, Any]) -> Any:
    if value.startswith("@"):
        return value_of(value[1:], names, name)
    try:
        return parse(value)
    except ValueError:
        return value
