"""Explanations of calls with arguments of a wrong type.

A public function is called without checks. If it raises an error of another package, the arguments are compared with
the annotations. If one does not fit, the caller gets an `InvalidType` that names it. An error with fitting arguments is
a defect and stays unchanged. So calls are not slower, and the annotations stay the only description of the arguments.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from svcnb.errors import InvalidArgument, InvalidType, SvcnbError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

F = TypeVar("F", bound=Callable[..., Any])
DEPRECATED = "Deprecated name"
"""First words of the docstring of an old name, which is not wrapped: its warning counts the frames to its caller."""


def checked(function: F) -> F:
    """Returns a function that raises this package's errors for wrong arguments.

    Args:
        function: A public function or coroutine function with annotations.

    Raises:
        InvalidType: On a call: an argument does not fit its annotation, and the function could not use it.
        InvalidArgument: On a call: a string cannot be encoded.
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


class Checked:
    """Base of public classes: their public methods and their constructor are `checked`."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name, value in list(vars(cls).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if isinstance(value, staticmethod):
                setattr(cls, name, staticmethod(checked(value.__func__)))
            elif inspect.isfunction(value) and not (value.__doc__ or "").startswith(DEPRECATED):
                setattr(cls, name, checked(value))


def _explained(function: Callable[..., Any], args: Any, named: Any, error: Exception) -> SvcnbError | None:
    called = function.__qualname__.removesuffix(".__init__")
    if (found := next(_misfits(function, args, named), None)) is not None:
        name, wanted, given = found
        return InvalidType(f"invalid argument {name} of {called}: expected {wanted}, got {given}")
    if isinstance(error, UnicodeEncodeError):
        return InvalidArgument(f"an argument of {called} has a character that {error.encoding} cannot encode")
    return None


def _misfits(function: Callable[..., Any], args: Any, named: Any) -> Iterator[tuple[str, str, str]]:
    """Returns name, annotation and actual type of each argument that does not fit."""
    from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter

    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **named)
    except TypeError:  # missing and unknown arguments: Python's own message is clear
        return
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        open_ended = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if open_ended or parameter.annotation is parameter.empty:
            continue
        try:
            hint = _resolved(parameter.annotation, function)
            if isinstance(hint, type) and issubclass(hint, BaseModel):
                fits = isinstance(value, hint)
            else:
                adapter = TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True, strict=True))
                fits = _fits(adapter, value)
        except (NameError, TypeError, PydanticUserError):
            continue  # an annotation that exists only for type checkers
        if not fits:
            yield name, str(parameter.annotation), type(value).__name__


def _fits(adapter: TypeAdapter[Any], value: object) -> bool:
    from pydantic import ValidationError

    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def _resolved(annotation: Any, function: Callable[..., Any]) -> Any:
    if isinstance(annotation, str):
        scope = vars(sys.modules[function.__module__])
        return eval(annotation, dict(scope))  # noqa: S307 - our own annotations
    return annotation
