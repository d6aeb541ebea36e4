"""Compiles the standard library and the wheels of a site to bytecode, so that a page does not have to compile them.

`svcnb.lite.packages` runs this file in Pyodide, because bytecode is specific to a version of Python. The file therefore
imports only the standard library.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import marshal
import zipfile
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path

AT_START = "packages.gz"
"""File name of the archive with the packages that the page loads at its start.

The first line is a JSON object with the size of each file in the archive. The object also contains the path of each
WebAssembly library that is in a separate file, with the name of this file. The content of the archive's files follows
the first line."""
MEMORY = "memory.gz"
"""File name of the snapshot of Python's memory after a warm-up, which starts an emulator and runs one action."""
_LIBRARY = "python_stdlib.zip"
_IN_LIBRARY = "/lib/python314.zip"
_IN_PACKAGES = "/lib/python3.14/site-packages"
_LEFT_OUT = (
    "IPython/core/profile/",
    "IPython/sphinxext/",
    "IPython/testing/plugin/",
    "anyio/_backends/_trio.py",
    "anywidget/labextension/",
    "anywidget/nbextension/",
    "bitarray/test_",
    "cytoolz/tests/",
    "docs/",
    "eth_account/typed_transactions/blob_transactions/kzg_trusted_setup.txt",
    "httpx/_main.py",
    "ipywidgets/widgets/tests/",
    "jedi/third_party/django-stubs/",
    "jedi/third_party/typeshed/stdlib/tkinter/",
    "jedi/third_party/typeshed/stubs/",
    "jupyterlab_widgets/labextension/",
    "pydantic/mypy.py",
    "tqdm/completion.sh",
    "tqdm/tqdm.1",
    "wcwidth/table_grapheme_overrides/_known_",
    "web3/_utils/module_testing/",
    "websockets/trio/",
)
"""Files that a page does not need. jedi alone has 5,000 stubs of other libraries. JupyterLab's extensions are also in
another folder of the site. The tables of wcwidth are for terminals."""
_LEFT_OUT_KINDS = (".c", ".h", ".pyx", ".pxd", ".schema.json", "py.typed", ".dist-info/RECORD")
_LEXERS = ("__init__.py", "_mapping.py", "data.py", "javascript.py", "python.py", "shell.py", "special.py")
"""Files of Pygments' lexers that a page needs, for the languages that it highlights."""
_WITH_SOURCES = ("svcnb/", "anyio/")
"""Packages that read their own source files: svcnb for tracebacks and exercises, and anyio for lazy imports."""
_UNCOMPILED = (
    "_pyio.py",
    "_pyrepl/",
    "ctypes/",
    "doctest.py",
    "mailbox.py",
    "multiprocessing/",
    "pdb.py",
    "svcnb/toolkit/cookbook/",
    "wsgiref/",
    "xml/",
    "xmlrpc/",
)
"""Files that a page rarely imports. They remain source files, which are smaller than bytecode."""
_UNCHECKED = (1).to_bytes(4, "little")  # Python does not compare the bytecode with the source
_EPOCH = (2020, 1, 1, 0, 0, 0)


def precompile(folder: Path) -> None:
    """Compiles the standard library and the wheels in a folder.

    The function unpacks the packages that the page loads at its start, and deletes their wheels. If such a package
    contains only Python files, its files move into the archive of the standard library, from which Python imports them.
    Otherwise, its files move into the archive `AT_START`, which JavaScript unpacks. The wheels of other packages
    remain, and contain bytecode.

    Args:
        folder: Folder with the wheels, ``pyodide-lock.json`` and ``python_stdlib.zip``.
    """
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    packages = lock["packages"]
    at_start = {"svcnb", *packages["svcnb"]["depends"]}
    unpacked: dict[str, bytes] = {}
    library = _compiled(_files(folder / _LIBRARY), in_archive=True)
    for name, entry in list(packages.items()):
        wheel = folder / entry["file_name"]
        files = _files(wheel)
        if name not in at_start:
            _write(wheel, _compiled(files, in_archive=False))
            entry["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
            entry["depends"] = [each for each in entry["depends"] if each not in at_start]
            continue
        if all(file.endswith(".py") or ".dist-info/" in file for file in files):
            library |= _compiled(files, in_archive=True)
        else:
            unpacked |= _compiled(files, in_archive=False)
        wheel.unlink()
        del packages[name]
    _write(folder / _LIBRARY, library)
    listed = {"files": {name: len(content) for name, content in unpacked.items()}, "libraries": {}}
    content = [json.dumps(listed).encode(), b"\n", *unpacked.values()]
    (folder / AT_START).write_bytes(gzip.compress(b"".join(content), mtime=0))
    (folder / "pyodide-lock.json").write_text(json.dumps(lock, separators=(",", ":")), "utf-8")


def _files(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as content:
        return {file: content.read(file) for file in content.namelist() if _is_needed(file)}


def _is_needed(file: str) -> bool:
    unused = file.startswith(_LEFT_OUT) or file.endswith(("/", *_LEFT_OUT_KINDS)) or ".data/" in file
    if file.startswith("pygments/lexers/"):
        return file.endswith(_LEXERS)
    return not unused and (not file.endswith(".pyi") or file.startswith("jedi/"))


def _compiled(files: dict[str, bytes], *, in_archive: bool) -> dict[str, bytes]:
    found = {}
    for file, content in files.items():
        home = _IN_LIBRARY if in_archive else _IN_PACKAGES
        compiled = file.endswith(".py") and not file.startswith(_UNCOMPILED)
        bytecode = _bytecode(f"{home}/{file}", content) if compiled else None
        with_source = file.startswith(_WITH_SOURCES)
        if bytecode is None or with_source:
            found[file] = content
        if bytecode is not None:
            # Python looks for bytecode in __pycache__ only if the source is there, and only in a folder.
            found[cache_from_source(file) if with_source and not in_archive else f"{file}c"] = bytecode
    return found


def _write(archive: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w") as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED, 9)


def _bytecode(name: str, source: bytes) -> bytes | None:
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except SyntaxError:  # the file is for a different version of Python
        return None
    return MAGIC_NUMBER + _UNCHECKED + source_hash(source) + marshal.dumps(code)
