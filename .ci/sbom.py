"""Prints the bill of materials of this environment (CycloneDX 1.6), or the licences of its packages.

Usage: ``python .ci/sbom.py [--licences]``.

The data of Python distributions comes from their installed metadata, and their hashes from `requirements.hashed.txt`.
The npm packages of the front end and of the engines come from `widgets/deno.lock`. The npm packages of downloaded tools
come from the lock files in `svcnb/tools`.

The package cyclonedx-bom (version 7.5) cannot replace this script. Its command `environment` returns no hashes of
wheels and no npm packages. It returns classifiers instead of the SPDX names of licences. The package also adds 11
packages (21 MB) to the development tools, and takes 37 s instead of 3 s.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PINNED: Final = ROOT / "requirements.hashed.txt"
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NPM = re.compile(r"^(@?[^@]+)@([^_]+)")

# SPDX names for the trove classifiers of older packages.
_SPDX: Final = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Public Domain": "CC0-1.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
_MIT: Final = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"


def pins() -> dict[str, tuple[str, list[str]]]:
    """Returns the version and the accepted SHA-256 hashes of every pinned distribution."""
    found: dict[str, tuple[str, list[str]]] = {}
    name = ""
    for line in PINNED.read_text(encoding="utf-8").splitlines():
        if pin := _PIN.match(line):
            name = pin[1]
            found[name] = (pin[2], [])
        found[name][1].extend(_HASH.findall(line))
    return found


def licence_of(found: Distribution) -> str:
    """Returns an SPDX expression, or the licence line of the package's metadata, or "" if there is none."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return str(metadata["License-Expression"])
    classifiers = [line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier") or () if "License ::" in line]
    known = [_SPDX.get(name, name) for name in classifiers if name != "OSI Approved"]
    said = str((metadata.get_all("License") or [""])[0]).partition("\n")[0].strip()
    return " OR ".join(known) or _SPDX.get(said, said) or _by_file(found)


def _by_file(found: Distribution) -> str:
    """Returns "MIT" for the licence's text, or its title, for a package without other information."""
    for file in found.files or ():
        if file.name.upper().startswith("LICEN"):
            text = file.read_text()
            title = next((line.strip() for line in text.splitlines() if line.strip()), "")
            return "MIT" if _MIT in " ".join(text.split()) else _SPDX.get(title, title)
    return ""


def python_parts() -> Iterator[dict[str, Any]]:
    """Yields the pinned distributions that are installed in this environment."""
    for name, (version, hashes) in pins().items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or another version of Python
        yield {
            "type": "library",
            "name": name,
            "version": found.version,
            "purl": f"pkg:pypi/{name}@{found.version}",
            "licenses": [{"expression": licence_of(found)}],
            "hashes": [{"alg": "SHA-256", "content": content} for content in hashes if found.version == version],
        }


def other_parts() -> Iterator[dict[str, Any]]:
    """Yields the npm packages from the lock files of the bundles and of the downloaded tools."""
    for lock in (ROOT / "widgets" / "deno.lock", *sorted((ROOT / "svcnb" / "tools").glob("*.lock"))):
        for key, entry in json.loads(lock.read_text(encoding="utf-8")).get("npm", {}).items():
            named = _NPM.match(key)
            if named:
                yield {
                    "type": "library",
                    "name": named[1],
                    "version": named[2],
                    "purl": f"pkg:npm/{named[1].replace('@', '%40')}@{named[2]}",
                    "properties": [
                        {"name": "svcnb:lock", "value": lock.name},
                        {"name": "svcnb:integrity", "value": entry.get("integrity", "")},
                    ],
                }


def bill() -> dict[str, Any]:
    """Returns the complete bill of materials."""
    own = distribution("svcnb")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": "svcnb",
                "version": own.version,
                "licenses": [{"expression": licence_of(own)}],
            }
        },
        "components": [*python_parts(), *other_parts()],
    }


if __name__ == "__main__":
    if "--licences" in sys.argv:
        for part in sorted(python_parts(), key=lambda part: str(part["name"])):
            sys.stdout.write(f"{part['name']} {part['version']}: {part['licenses'][0]['expression'] or 'unknown'}\n")
    else:
        sys.stdout.write(json.dumps(bill(), indent=1) + "\n")
