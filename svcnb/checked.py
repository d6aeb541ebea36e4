"""Decorator that produces clear errors for arguments of the wrong type.

A public function runs without a check of its arguments, so successful calls are not slower. If the function raises an
error that is not an `SvcnbError`, the decorator compares the arguments with the annotations. If an argument does not
match, the decorator raises `InvalidType` with the name of the argument. If all arguments match, the error is usually a
defect, and the decorator raises the error unchanged. The annotations are the only description of the allowed types.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from types import ModuleType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

from svcnb.errors import InvalidArgument, InvalidType, SvcnbError

F = TypeVar("F", bound=Callable[..., Any])
_INT64: Final = 1 << 63
_MODULE: Final = re.compile(r"\b(?:[A-Za-z_]\w{0,99}\.)+(?=[A-Za-z_])")
_LONGEST_WORD: Final = 20  # characters; a longer string can be a secret
DEPRECATED = "Deprecated name"
"""First words of a deprecated method's docstring. The decorator does not wrap such methods, because an additional stack
frame changes the location of their warning."""


def checked(function: F) -> F:
    """Returns a wrapper of a function. The wrapper raises this package's errors for wrong arguments.

    Args:
        function: Public function or coroutine function with annotations.

    Raises:
        InvalidType: During a call, an argument does not match its annotation, and the function failed.
        InvalidArgument: During a call, a string cannot be encoded or contains a null character, or a number is too
            large.
    """
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **named: Any) -> Any:
            try:
                return await function(*args, **named)
            except SvcnbError:
                raise
            except Exception as error:
                if (explained := _explained(function, args, named, error)) is None:
                    raise
            raise explained

        return cast("F", awaited)

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except SvcnbError:
            raise
        except Exception as error:
            if (explained := _explained(function, args, named, error)) is None:
                raise
        raise explained

    return cast("F", called)


def checked_first(function: F) -> F:
    """Returns a wrapper of a function. Before each call, the wrapper compares the arguments with the annotations.

    The comparison takes less than a millisecond. Use this decorator for constructors that only store their arguments,
    because such constructors do not fail for a wrong type. During the call, the wrapper does the same as the wrapper of
    `checked`.

    Raises:
        InvalidType: Before a call, an argument does not match its annotation.
    """
    called = checked(function)

    @wraps(function)
    def checking(*args: Any, **named: Any) -> Any:
        if (mismatch := _mismatch(function, args, named)) is not None:
            raise mismatch
        return called(*args, **named)

    return cast("F", checking)


class Checked:
    """Base class that applies `checked` to the constructor and the public methods of each subclass."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name, value in list(vars(cls).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if isinstance(value, staticmethod):
                setattr(cls, name, staticmethod(checked(value.__func__)))
            elif inspect.isfunction(value) and not (value.__doc__ or "").startswith(DEPRECATED):
                setattr(cls, name, checked(value))


def _name(function: Callable[..., Any], args: Any) -> str:
    owner, _, name = function.__qualname__.rpartition(".")
    if args and any(owner == kind.__qualname__ for kind in type(args[0]).__mro__):
        owner = type(args[0]).__qualname__  # name the object's own class, not the base class that defines the method
    return f"{owner}.{name}".removeprefix(".").removesuffix(".__init__")


def _mismatch(function: Callable[..., Any], args: Any, named: Any) -> InvalidType | None:
    """Returns the error for the first argument that does not match its annotation, or None."""
    for name, wanted, given in _mismatches(function, args, named):
        return InvalidType(f"invalid argument {name} of {_name(function, args)}: expected {wanted}, got {given}")
    return None


def _explained(function: Callable[..., Any], args: Any, named: Any, error: Exception) -> SvcnbError | None:
    if (mismatch := _mismatch(function, args, named)) is not None:
        return mismatch
    called = _name(function, args)
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        holder = _containing(character, function, args, named)
        which = f"the argument {holder}" if holder else "an argument"
        return InvalidArgument(
            f"{which} of {called} contains the character {character!r}, which {error.encoding} cannot encode: remove "
            "the character"
        )
    if isinstance(error, ValueError) and (holder := _containing("\0", function, args, named)):
        return InvalidArgument(f"the argument {holder} of {called} contains a null character: remove the character")
    if isinstance(error, (OverflowError, ValueError)):
        found_number = next(_out_of_range(function, args, named), None)
        if found_number is not None:
            return InvalidArgument(
                f"invalid argument {found_number} of {called}: expected a number from -2**63 to 2**63 - 1"
            )
    return None


def _containing(character: str, function: Callable[..., Any], args: Any, named: Any) -> str | None:
    """Returns the name of the first argument with a string that contains the character, or None."""
    everything: dict[str, Any] = inspect.signature(function).bind(*args, **named).arguments | named
    for name, value in everything.items():
        if any(isinstance(each, str) and character in each for each in (value if type(value) is tuple else (value,))):
            return name
    return None


def _out_of_range(function: Callable[..., Any], args: Any, named: Any) -> Iterator[str]:
    """Yields the names of arguments that are infinite, NaN, or outside the range of signed 64-bit integers."""
    for name, value in inspect.signature(function).bind(*args, **named).arguments.items():
        if isinstance(value, (int, float)) and not -_INT64 <= value < _INT64:
            yield name


def _mismatches(function: Callable[..., Any], args: Any, named: Any) -> Iterator[tuple[str, str, str]]:
    """Yields the name, the allowed types and the actual type of each argument that does not match its annotation."""
    from pydantic import PydanticUserError

    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **named)
    except TypeError:  # Python's own message is clear for missing and unknown arguments
        return
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        open_ended = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if open_ended or parameter.annotation is parameter.empty:
            continue
        try:
            hint = _resolved(parameter.annotation, function)
            matches = _matches(hint, value)
        except (AttributeError, ImportError, NameError, OSError, TypeError, PydanticUserError):
            continue  # only type checkers can resolve the annotation
        if not matches:
            yield name, _in_words(hint), _given(hint, value)


def _matches(hint: Any, value: object) -> bool:
    from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

    if get_origin(hint) in {Union, UnionType}:
        return any(_matches(each, value) for each in get_args(hint))
    # pydantic also accepts a dictionary instead of a model or another class of this package, and converts it.
    if isinstance(hint, type) and (issubclass(hint, BaseModel) or hint.__module__.startswith("svcnb.")):
        return isinstance(value, hint)
    adapter: TypeAdapter[Any] = TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True, strict=True))
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def _in_words(hint: Any) -> str:
    """Returns the text of a type hint, for example ``Group | int | str``. Class names contain no module names."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if get_origin(hint) in {Union, UnionType}:
        return " | ".join(map(_in_words, get_args(hint)))
    if isinstance(hint, type) and get_origin(hint) is None:
        return "None" if hint is type(None) else hint.__name__
    return _MODULE.sub("", str(hint))


def _given(hint: Any, value: object) -> str:
    """Returns the type of a value, or the value itself if the argument allows only fixed words."""
    is_word = get_origin(hint) is Literal and isinstance(value, str) and len(value) <= _LONGEST_WORD
    return repr(value) if is_word else type(value).__name__


def _resolved(annotation: Any, function: Callable[..., Any]) -> Any:
    if isinstance(annotation, str):
        module = sys.modules[function.__module__]
        return eval(annotation, dict(vars(module)), _ForTypeCheckers(module))  # noqa: S307 - our own annotations
    return annotation


class _ForTypeCheckers(dict[str, Any]):
    """Namespace of a module's ``TYPE_CHECKING`` imports. It imports a name when an annotation needs the name."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        if name in vars(self._module):
            raise KeyError(name)  # the name is already defined in the module
        for node in ast.walk(ast.parse(inspect.getsource(self._module))):
            if isinstance(node, ast.ImportFrom) and node.module and any(name == each.name for each in node.names):
                return getattr(import_module(node.module), name)
        raise KeyError(name)
