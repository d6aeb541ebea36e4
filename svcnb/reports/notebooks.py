"""Reports from the user's own notebooks. The title and the types of the parameters come from the notebook."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from svcnb.client.errors import ConfigError
from svcnb.client.recorder import names_secret
from svcnb.files import read_file
from svcnb.protocol.nesting import parse
from svcnb.reports.parameters import ParameterRefused

STARTING_POINT: Final = Path(__file__).with_name("starting-point.ipynb")
SUFFIX: Final = ".ipynb"
_TAG: Final = "parameters"
_BOOLEANS: Final = {"true": True, "false": False}
_TYPES: Final = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict}
_MOST_BYTES: Final = 50_000_000


class NotebookUnusable(ConfigError):
    """Error for a notebook that cannot run as a report."""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a notebook.

    Attributes:
        name: Name of the parameter.
        default: Value in the notebook. None if the notebook contains an expression.
        kind: Type of the parameter. None allows any value.
        description: Comment after the parameter.
    """

    name: str
    default: Any
    kind: type | None
    description: str = ""

    def value(self, given: Any) -> Any:
        """Converts a value, or its text from a command line, to the type of the parameter.

        Raises:
            ValueError: The value has the wrong type.
        """
        value = self._read(given) if isinstance(given, str) and self.kind is not str else given
        if self.kind is float and type(value) is int:
            value = float(value)
        if self.kind is not None and type(value) is not self.kind:
            raise ValueError(f"expected {_WORDS[self.kind]}")
        json.dumps(value, allow_nan=False)
        return value

    def _read(self, text: str) -> Any:
        if self.kind is bool:
            return _BOOLEANS.get(text.strip().lower(), text)
        try:
            return parse(text)
        except ValueError:
            return text


_WORDS: Final = {
    int: "an integer", float: "a number", str: "a string", bool: "true or false", list: "a JSON list",
    dict: "a JSON object",
}  # fmt: skip


@dataclass(frozen=True)
class OwnNotebook:
    """Notebook of the user that can run as a report.

    Attributes:
        file: Path of the notebook.
        name: File name without its extension.
        title: First heading, or the name if there is no heading.
        fields: Parameters, with their names as keys.
    """

    file: Path
    name: str
    title: str
    fields: Mapping[str, Parameter]

    @property
    def template(self) -> Path:
        """Path of the notebook."""
        return self.file

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the given parameters, and converts them to the types of the notebook's parameters.

        The result does not contain the parameters that are not given.

        Args:
            given: Names and values. Values can be text, as on a command line.

        Raises:
            ParameterRefused: A name is unknown or suggests a secret, or a value has the wrong type.
        """
        values = {}
        for name, value in given.items():
            if names_secret(name):
                raise ParameterRefused(
                    f"{name} looks like the name of a secret, but a report stores its parameters",
                    hint=f"Set an environment variable, and read it in the notebook: os.environ[{name.upper()!r}].",
                )
            field = self.fields.get(name)
            if field is None:
                raise ParameterRefused(f"{self.file.name} has no parameter {name!r}", hint=self._known())
            try:
                values[name] = field.value(value)
            except (ValueError, TypeError, RecursionError) as error:
                raise ParameterRefused(
                    f"invalid parameter {name} = {value!r} for {self.file.name}: {error}",
                    hint=f"Use, for example, -p {name}={field.default}",
                ) from None
        return values

    def _known(self) -> str:
        if self.fields:
            return f"Use the parameters {', '.join(self.fields)}."
        return (
            f"Add the tag {_TAG!r} to the cell that sets the parameters: in JupyterLab, select the cell, and click the "
            "gear icon in the right sidebar."
        )


def is_own(name: str) -> bool:
    """Returns whether a name is the path of a notebook and not the name of a report."""
    return name.endswith(SUFFIX)


def read_notebook(file: str | Path) -> OwnNotebook:
    """Returns a notebook's title and parameters.

    Raises:
        NotebookUnusable: The file does not exist, is too large, or is not a Python notebook.
    """
    path = Path(file).expanduser()
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise NotebookUnusable(
                f"the notebook {path} is larger than {_MOST_BYTES // 1_000_000} MB, the maximum",
                hint="Clear the outputs of the notebook.",
            )
        notebook = parse(read_file(path))
        cells = [(str(cell["cell_type"]), _text(cell["source"]), _tags(cell)) for cell in notebook["cells"]]
        language = notebook.get("metadata", {}).get("kernelspec", {}).get("language", "python")
    except OSError as error:
        raise NotebookUnusable(
            f"the notebook {path} cannot be read: {error.strerror}",
            hint=f"Check the path, or create a notebook: svcnb report new {path.name}",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NotebookUnusable(
            f"{path} is not a valid notebook: expected notebook format 4",
            hint="Open the notebook in JupyterLab and save it. If JupyterLab cannot open it, create a notebook: "
            f"svcnb report new {path.name}",
        ) from None
    if language != "python":
        raise NotebookUnusable(
            f"the notebook {path} has the language {language}: expected python", hint="Use a Python notebook."
        )
    headings = (
        line.lstrip("# ").strip() for kind, text, _ in cells if kind == "markdown" for line in text.splitlines()[:1]
    )
    source = next((text for kind, text, tags in cells if kind == "code" and _TAG in tags), "")
    return OwnNotebook(path, path.stem, next(filter(None, headings), path.stem), _parameters(source, path))


def create_notebook(file: str | Path) -> Path:
    """Writes a template for the user's own report into a new file.

    Args:
        file: Path of a new file. The name must end with ``.ipynb``.

    Returns:
        Path of the new notebook.

    Raises:
        NotebookUnusable: The file exists, has a different extension, or cannot be created, for example because its
            folder does not exist.
    """
    path = Path(file).expanduser()
    if path.suffix != SUFFIX:
        raise NotebookUnusable(
            f"invalid file name {path}: it does not end with {SUFFIX}",
            hint=f"Run: svcnb report new {path.stem}{SUFFIX}",
        )
    try:
        with path.open("xb") as new, STARTING_POINT.open("rb") as template:
            shutil.copyfileobj(template, new)
    except FileExistsError:
        raise NotebookUnusable(f"{path} already exists", hint="Choose another name for the notebook.") from None
    except FileNotFoundError:
        raise NotebookUnusable(
            f"cannot create {path}: the folder {path.parent} does not exist",
            hint="Create the folder, or pass the path of a file in an existing folder.",
        ) from None
    except OSError as error:
        raise NotebookUnusable(
            f"cannot create {path}: {error.strerror}", hint="Pass the path of a file in a folder that you can write to."
        ) from None
    return path


def _text(source: Any) -> str:
    return source if isinstance(source, str) else "".join(source)


def _tags(cell: Mapping[str, Any]) -> list[str]:
    return list(cell.get("metadata", {}).get("tags", ()))


def _parameters(source: str, path: Path) -> dict[str, Parameter]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError):  # CPython's parser raises MemoryError for deep nesting
        raise NotebookUnusable(
            f"the parameters of {path} are not valid Python",
            hint=f'Write only assignments such as day = "" in the cell with the tag {_TAG!r}.',
        ) from None
    lines = source.splitlines()
    found = {}
    for line in tree.body:
        if not isinstance(line, (ast.Assign, ast.AnnAssign)) or line.value is None:
            continue
        comment = lines[(line.end_lineno or 1) - 1].encode()[line.end_col_offset :].decode().partition("#")[2].strip()
        for target in line.targets if isinstance(line, ast.Assign) else [line.target]:
            if isinstance(target, ast.Name):
                annotation = getattr(line, "annotation", None)
                found[target.id] = _parameter(target.id, line.value, annotation, comment)
    return found


def _parameter(name: str, value: ast.expr, annotation: ast.expr | None, comment: str) -> Parameter:
    try:
        default = ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError):
        default = None
    named = _TYPES.get(annotation.id) if isinstance(annotation, ast.Name) else None
    kind = named or (type(default) if annotation is None and type(default) in _WORDS else None)
    return Parameter(name, default, kind, comment)
