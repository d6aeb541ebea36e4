"""Packages that actions import, from a folder on this machine (docs/service/runtime.md#imports).

The service downloads pinned ES modules from a public CDN for npm packages. The emulator reads the modules from a folder
instead, so that lessons and tests work without internet access:

```
packages/
  integrity.json                       {"left-pad@1.3.0": "sha384-...", ...}
  left-pad@1.3.0/index.js              import pad from "left-pad@1.3.0"
  @noble/hashes@1.8.0/sha256.js        import { sha256 } from "@noble/hashes@1.8.0/sha256.js"
```

Modules can import each other by a relative path, by a pinned name, or by a CDN path (`/npm/name@1.2.3/+esm`). When an
action first loads a module, the loader writes the module's hash to ``integrity.json``. The emulator rejects a file that
changes later.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import posixpath
import re
import secrets
from pathlib import Path

from svcnb.emulator.sandbox.protocol import Module, OperationRefused
from svcnb.protocol.limits import MAX_MODULE_BYTES

PINS = "integrity.json"

_NAME = r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"
_PINNED = re.compile(rf"(?P<package>{_NAME}@\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?P<path>/[^?#]*)?\Z")
_ENTRY = ("index.js", "index.mjs", "+esm")


class Packages:
    """Folder of pinned packages.

    Args:
        folder: Path of the folder. The folder does not need to exist until an action imports a module.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, specifier: str, importer: str | None) -> Module:
        """Returns one module after a check of its hash.

        Args:
            specifier: Specifier as written in the import, with an optional ``#sha384-...`` fragment.
            importer: Canonical name of the importing module, or None for the action itself.

        Raises:
            OperationRefused: The module has no pinned version, is missing, is too large, was changed, or is not UTF-8
                text. ``integrity.json`` cannot be read.
        """
        wanted, _, fragment = specifier.partition("#")
        package, path = self._resolve(wanted, importer, specifier)
        file, name = self._find(package, path, specifier)
        data = file.read_bytes()
        if len(data) > MAX_MODULE_BYTES:
            raise OperationRefused(
                f"cannot import {name!r}: it has {len(data)} bytes, but at most {MAX_MODULE_BYTES} are allowed. Import "
                "a smaller module."
            )
        integrity = "sha384-" + base64.b64encode(hashlib.sha384(data).digest()).decode()
        self._check(name, integrity, fragment)
        try:
            return Module(name, data.decode(), integrity)
        except UnicodeDecodeError:
            raise OperationRefused(f"cannot import {name!r}: it is not UTF-8 text. Save the file as UTF-8.") from None

    def _resolve(self, wanted: str, importer: str | None, specifier: str) -> tuple[str, str]:
        if importer is not None and wanted.startswith(("./", "../")):
            pinned = _PINNED.match(importer)
            if pinned is None:
                raise OperationRefused(
                    f"cannot import {specifier!r}: the importing module {importer!r} is not part of a package. Import "
                    'a package with its exact version instead of a relative path, for example "left-pad@1.3.0".'
                )
            inside = posixpath.normpath(posixpath.join(posixpath.dirname(pinned["path"] or "/"), wanted))
            return pinned["package"], inside
        if importer is not None:
            wanted = wanted.removeprefix("/npm/")
        pinned = _PINNED.match(wanted)
        if pinned is None:
            raise OperationRefused(
                f"cannot import {specifier!r}: write an npm package with its exact version, for example "
                '"left-pad@1.3.0" or "@noble/hashes@1.8.0/sha256.js"'
            )
        return pinned["package"], pinned["path"] or ""

    def _find(self, package: str, path: str, specifier: str) -> tuple[Path, str]:
        root = (self._folder / package).resolve()
        inside = posixpath.normpath("/" + path).lstrip("/")
        if inside in {"", ".", "+esm"}:
            tries = list(_ENTRY)
        else:
            tries = [inside, f"{inside}.js", f"{inside}.mjs", f"{inside}/index.js"]
        for candidate in tries:
            file = (root / candidate).resolve()
            if file.is_relative_to(root) and file.is_file():
                whole = candidate == _ENTRY[0] and inside in {"", ".", "+esm"}
                return file, package if whole else f"{package}/{candidate}"
        raise OperationRefused(
            f"cannot import {specifier!r}: the package folder does not contain {package}/{tries[0]}. Copy the "
            "module to that path, because the emulator does not download modules."
        )

    def _check(self, name: str, integrity: str, fragment: str) -> None:
        if fragment and fragment != integrity:
            raise OperationRefused(
                f"cannot import {name!r}: the integrity hash of its file is {integrity}, but the import expects "
                f"{fragment}. Correct the hash after # in the import, or restore the file in the package folder."
            )
        pins = self._pins()
        pinned = pins.get(name)
        if pinned is None:
            # Trust the first version of a file. In a read-only folder, imports work, but the loader stores no hashes.
            with contextlib.suppress(OSError):
                text = json.dumps({**pins, name: integrity}, indent=2, sort_keys=True) + "\n"
                # Emulators can share a folder. A concurrent reader sees either the old file or the new file.
                draft = self._folder / f".{PINS}-{secrets.token_hex(8)}"
                draft.write_text(text, encoding="utf-8")
                draft.replace(self._folder / PINS)
        elif pinned != integrity:
            raise OperationRefused(
                f"cannot import {name!r}: the integrity hash of its file is {integrity}, but {PINS} expects {pinned}. "
                f"The file has changed. Restore it, or delete this module's entry from {PINS} to accept the change."
            )

    def _pins(self) -> dict[str, str]:
        try:
            pins = json.loads((self._folder / PINS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise OperationRefused(
                f"cannot import modules: the file {PINS} in the package folder cannot be read ({error}). The file "
                f"contains the expected hash of each module. Restore {PINS}, or delete {PINS} to accept the current "
                "modules."
            ) from None
        if not isinstance(pins, dict):
            raise OperationRefused(
                f"cannot import modules: the file {PINS} in the package folder is not a JSON object with the expected "
                f"hash of each module. Restore {PINS}, or delete {PINS} to accept the current modules."
            )
        return pins
