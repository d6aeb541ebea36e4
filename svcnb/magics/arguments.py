"""Argument parser and error display of magics: options as on a command line, errors in a few lines."""

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
    """The line asked for help, which has been printed."""


class Options(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Refuses a line.

        Raises:
            InvalidArgument: Always.
        """
        raise InvalidArgument(message, hint=f"{self.format_usage().strip()}\n{self.prog} --help explains each.")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - argparse's signature
        """Stops parsing a line that asked for help."""
        raise HelpShown

    def read(self, line: str) -> argparse.Namespace:
        """Parses a line as a shell does: quotes group words and are removed.

        Raises:
            InvalidArgument: A quote is not closed, or an option is unknown.
            HelpShown: The line asked for help.
        """
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise InvalidArgument(
                f"the line cannot be read: {error}", hint="Close every quote; JSON stands in single quotes."
            ) from None
        return self.parse_args(words)

    @property
    def flags(self) -> dict[str, str]:
        """All options with their help texts, for completion."""
        return {
            option: (action.help or "").replace("%%", "%")
            for action in self._actions
            for option in action.option_strings
            if option.startswith("--")
        }


def as_magic(function: Callable[..., Any], told: str) -> Callable[..., Any]:
    """Makes a function a magic. It gets its line unchanged, and its errors are shown without a traceback.

    Normally, IPython replaces ``{name}`` and ``$name`` in lines of magics, but these are common in JSON and JavaScript.

    Args:
        function: Function of the magic, called with its line, and its cell.
        told: Text that ``%magic?`` shows.
    """
    from IPython.core.magic import no_var_expand

    def magic(*args: str) -> Any:
        try:
            return function(*args)
        except HelpShown:
            return None
        except (SvcnbError, MalformedValue, OSError) as error:
            # IPython asks an error for its own rendering first. Its own traceback would only show internal frames.
            text = "\n".join([str(error), *getattr(error, "__notes__", [])])
            error.__dict__["_render_traceback_"] = _Brief(type(error).__name__, text)
            raise

    magic.__doc__ = told
    return no_var_expand(magic)


class _Brief:
    """Display of an error. It is a class and not a closure, so that the error can still be pickled."""

    def __init__(self, title: str, text: str) -> None:
        self._lines = [f"{_RED.format(title)}: {text}"]

    def __call__(self) -> list[str]:
        return self._lines


def value_of(text: str, names: Mapping[str, Any], what: str) -> Any:
    """Reads a value from a line: JSON, or the name of a variable of the notebook.

    Args:
        text: Text from the line.
        names: The notebook's variables.
        what: Purpose of the value, for the error text.

    Raises:
        InvalidArgument: It is neither.
    """
    if text.isidentifier() and text in names:
        return names[text]
    try:
        return parse(text)
    except ValueError as error:
        if text.isidentifier():
            raise InvalidArgument(
                f"{what} {text!r} is no variable of this notebook and no JSON",
                hint="Run the cell that makes it, or write JSON: a text stands in double quotes, all in single ones.",
            ) from None
        raise InvalidArgument(
            f"{what} {text!r} is no JSON ({error})",
            hint="""Put JSON in single quotes, for example '{"n": 41}', or name a variable.""",
        ) from None


def parameters(words: Sequence[str], names: Mapping[str, Any]) -> Any:
    """Reads the parameters of ``main``: one JSON value or variable, and members ``name=value`` that override it.

    The value of a member is JSON if it is valid JSON, a variable after ``@``, and otherwise the text itself.

    Args:
        words: The words after ``--params``.
        names: The notebook's variables.

    Raises:
        InvalidArgument: A word is neither, or members would override something that is not an object.

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
        raise InvalidArgument("the parameters are given twice", hint="One JSON value or variable, then name=value.")
    if not whole:
        return members or None
    if members and not isinstance(whole[0], Mapping):
        raise InvalidArgument(
            f"members are laid over {type(whole[0]).__name__}, which has none", hint="Give an object, or members alone."
        )
    return {**whole[0], **members} if members else whole[0]


def _member(name: str, value: str, names: Mapping[str, Any]) -> Any:
    if value.startswith("@"):
        return value_of(value[1:], names, name)
    try:
        return parse(value)
    except ValueError:
        return value
