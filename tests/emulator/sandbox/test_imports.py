# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Pinned imports from a package folder.

Source: docs/service/runtime.md#imports; docs/service/conformance.md#runtime, item 50.
"""

from __future__ import annotations

import base64
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from svcnb.emulator.sandbox.packages import Packages

pytestmark = pytest.mark.engine

# These tests do not depend on the engine, or need `v8`.
ENGINES = ("v8",)


def sha384(text: str) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(text.encode()).digest()).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "left-pad@1.3.0/index.js": "export default (s, n) => String(s).padStart(n); export const version = '1.3.0';",
        "@scope/math@2.0.1/index.js": "export { add } from './lib/add.js'; export * as more from '/npm/left-pad@1.3.0/+esm';",
        "@scope/math@2.0.1/lib/add.js": "import pad from 'left-pad@1.3.0'; export const add = (a, b) => pad(a + b, 5);",
        "cycle@1.0.0/index.js": "import { b } from './b.js'; export const a = 1; export const sum = () => a + b();",
        "cycle@1.0.0/b.js": "import { a } from './index.js'; export const b = () => a + 1;",
        "broken@1.0.0/index.js": "export const x = ;",
        "thrower@1.0.0/index.js": "export const x = 1;\nthrow new Error('at load');",
        "dynamic@1.0.0/index.js": "export const load = () => import('node:fs');",
        "late@1.0.0/index.js": "export const value = await Promise.resolve(7);",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def importing(room: Any, folder: Path) -> Any:
    return lambda: room.host(packages=Packages(folder))


@pytest.mark.parametrize(
    ("imports", "expression", "value"),
    [
        ('import pad from "left-pad@1.3.0";', "pad('x', 3)", "  x"),
        ("import { version } from 'left-pad@1.3.0'", "version", "1.3.0"),
        ('import pad, { version as v } from "left-pad@1.3.0";', "[pad('x', 2), v]", [" x", "1.3.0"]),
        ('import * as all from "left-pad@1.3.0";', "Object.keys(all).sort()", ["default", "version"]),
        ('import "left-pad@1.3.0";', "1", 1),
        ('import { add } from "@scope/math@2.0.1";', "[add(1, 2)]", ["    3"]),
        ('import { add } from "@scope/math@2.0.1/lib/add.js";', "[add(1, 2)]", ["    3"]),
        ('import { add } from "@scope/math@2.0.1/lib/add";', "[add(1, 2)]", ["    3"]),
        ('import { more } from "@scope/math@2.0.1";', "more.version", "1.3.0"),
        ('import { sum } from "cycle@1.0.0";', "sum()", 3),
        ('import { value } from "late@1.0.0";', "value", 7),
        (
            'import { version } from "left-pad@1.3.0"; import pad from "left-pad@1.3.0";',
            "[version, pad(1, 2)]",
            ["1.3.0", " 1"],
        ),
    ],
)
def test_a_pinned_import_loads(imports: str, expression: str, value: Any, room: Any, importing: Any):
    assert room.value(f"{imports}\nconst main = () => {expression}", host=importing()) == value


def test_positions_after_imports_stay_the_same(room: Any, importing: Any):
    source = 'import pad,\n  { version } from "left-pad@1.3.0";\n\nconst main = () => { throw new Error(version); }'
    assert (
        room.error(source, host=importing())
        == "Uncaught (in promise) Error: 1.3.0\n    at main (<user_provided_script>:4:28)"
    )


def test_import_details_name_each_module_with_its_integrity(room: Any, importing: Any, folder: Path):
    source = 'import { add } from "@scope/math@2.0.1/lib/add.js"; const main = () => Svc.Actions.showImportDetails()'
    texts = {
        name: (folder / file).read_text()
        for name, file in [
            ("@scope/math@2.0.1/lib/add.js", "@scope/math@2.0.1/lib/add.js"),
            ("left-pad@1.3.0", "left-pad@1.3.0/index.js"),
        ]
    }
    assert room.value(source, host=importing()) == [
        {"name": name, "integrity": sha384(text), "bytes": len(text)} for name, text in texts.items()
    ]
    assert room.value("const main = () => Svc.Actions.showImportDetails()", host=importing()) == []


@pytest.mark.parametrize(
    ("imports", "text"),
    [
        ('import x from "left-pad";', "exact version"),
        ('import x from "left-pad@^1.3.0";', "exact version"),
        ('import x from "left-pad@1.3";', "exact version"),
        ('import x from "https://cdn.example/left-pad@1.3.0";', "exact version"),
        ('import x from "./left-pad@1.3.0";', "exact version"),
        ('import x from "node:fs";', "exact version"),
        ('import x from "left-pad@9.9.9";', "does not contain left-pad@9.9.9/index.js"),
        ('import x from "left-pad@1.3.0/../../../etc/passwd";', "does not contain left-pad@1.3.0/etc/passwd"),
        ('import { nothing } from "left-pad@1.3.0";', "does not provide an export named 'nothing'"),
        ('import x from "broken@1.0.0";', "SyntaxError"),
        ('import x from "thrower@1.0.0";', "Error: at load\n    at <package thrower@1.0.0>:2:7"),
        ('import x from "left-pad@1.3.0" with { type: "json" };', "import attributes are not supported"),
    ],
)
def test_an_import_that_cannot_be_loaded_says_why(imports: str, text: str, room: Any, importing: Any):
    assert text in room.error(f"{imports}\nconst main = () => 1", host=importing())


def test_a_dynamic_import_is_refused_inside_packages_too(room: Any, importing: Any):
    source = 'import { load } from "dynamic@1.0.0"; const main = () => load().catch((e) => e.name)'
    assert room.value(source, host=importing()) == "TypeError"


def test_an_inline_integrity_is_checked(room: Any, importing: Any, folder: Path):
    right = sha384((folder / "left-pad@1.3.0/index.js").read_text())
    source = 'import { version } from "left-pad@1.3.0#%s"; const main = () => version'
    assert room.value(source % right, host=importing()) == "1.3.0"
    assert f"the integrity hash of its file is {right}, but the import expects sha384-other" in room.error(
        source % "sha384-other", host=importing()
    )


def test_the_first_use_pins_a_module_and_a_changed_file_is_refused(room: Any, importing: Any, folder: Path):
    source = 'import { version } from "left-pad@1.3.0"; const main = () => version'
    file = folder / "left-pad@1.3.0/index.js"
    assert room.value(source, host=importing()) == "1.3.0"
    assert json.loads((folder / "integrity.json").read_text()) == {"left-pad@1.3.0": sha384(file.read_text())}
    file.write_text("export const version = 'tampered';")
    assert "The file has changed" in room.error(source, host=importing())


def test_a_reader_always_finds_a_complete_file_of_pins(tmp_path: Path):
    names = [f"module{n}@1.0.0" for n in range(200)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.js").write_text(f"export default {name!r};")

    def load() -> None:
        packages = Packages(tmp_path)  # settings of a separate emulator
        for name in names:
            packages.load(name, None)

    with ThreadPoolExecutor(3) as emulators:
        for done in [emulators.submit(load) for _ in range(3)]:
            done.result()
    assert {file.name for file in tmp_path.iterdir()} == {*names, "integrity.json"}


def test_without_a_package_folder_the_missing_module_is_named(room: Any):
    error = room.error('import x from "left-pad@1.3.0"; const main = () => x')
    assert "cannot import 'left-pad@1.3.0'" in error
    assert "SVC_ACTION_PACKAGES" in error


def test_imports_are_not_counted_as_outbound_requests(room: Any, importing: Any):
    source = 'import { version } from "left-pad@1.3.0"; const main = () => version'
    assert room.value(source, host=importing(), max_fetch_count=0) == "1.3.0"


def test_the_word_import_in_strings_and_comments_has_no_effect(room: Any):
    source = "// import x from 'y@1.0.0'\nconst main = () => { const imports = `import z from \"w@1.0.0\"`; return [imports, 010]; }"
    assert room.value(source) == ['import z from "w@1.0.0"', 8]


def test_top_level_await_stays_a_syntax_error_beside_imports(room: Any, importing: Any):
    outcome = room.run('import "left-pad@1.3.0";\nawait 1;\nconst main = () => 1', host=importing())
    assert outcome.error_kind == "syntax"
