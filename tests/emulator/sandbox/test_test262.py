"""The runner of test262, with a suite of a few tests."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]

runner = importlib.import_module("tests.emulator.sandbox.full_test262")

TESTS = {
    "language/plain.js": "/*---\nflags: [noStrict]\n---*/\nassert(this === globalThis);",
    "language/both.js": "/*---\nfeatures: [let]\n---*/\nlet x = 1; assert(x === 1);",
    "language/fails.js": '/*---\nflags:\n  - onlyStrict\n---*/\nthrow new Error("no");',
    "language/later.js": "/*---\nflags: [async, noStrict]\n---*/\nPromise.resolve().then($DONE, $DONE);",
    "language/module.js": "/*---\nflags: [module]\n---*/\nexport default 1;",
    "language/raw.js": '/*---\nflags: [raw]\n---*/\n"use strict";',
    "language/part_FIXTURE.js": "throw 1;",
    "intl402/names.js": "/*---\nflags: [noStrict]\n---*/\nIntl.getCanonicalLocales('de');",
}
HARNESS = {
    "assert.js": "function assert(truth) { if (!truth) throw new Error('failed'); }",
    "sta.js": "",
    "doneprintHandle.js": "function $DONE(error) { print(error ? 'failed' : 'complete'); }",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for folder, files in (("test", TESTS), ("harness", HARNESS)):
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_test_is_read_in_each_allowed_mode_and_modules_and_fixtures_are_omitted(suite: Path) -> None:
    names = [test.name for test in runner.read_tests(suite)]
    assert sorted(names) == [
        "intl402/names.js",
        "language/both.js",
        "language/both.js (strict)",
        "language/fails.js (strict)",
        "language/later.js",
        "language/plain.js",
        "language/raw.js",
    ]
    assert len(list(runner.read_tests(suite, strict=False))) == len(names) - 1


def test_equal_and_trapped_tests_are_distinguished_and_results_are_stored(suite: Path, tmp_path: Path) -> None:
    answers, report = tmp_path / "v8.jsonl", tmp_path / "report.jsonl"

    def compare() -> dict[str, Any]:
        results = asyncio.run(runner.compare_all(runner.read_tests(suite), answers=answers, report=report))
        return {result.name: result for result in results}

    found = compare()
    verdicts = {name: result.verdict for name, result in found.items()}
    assert verdicts.pop("intl402/names.js") == "trapped"
    assert set(verdicts.values()) == {"equal"}
    assert found["intl402/names.js"].trap == "Intl"
    kept = answers.read_text(encoding="utf-8").splitlines()
    assert len(kept) == len(verdicts)
    assert any("complete" in line for line in kept)
    # The runner reuses stored results, so a changed stored result is a difference.
    answers.write_text(answers.read_text(encoding="utf-8").replace("complete", "changed"), encoding="utf-8")
    assert compare()["language/later.js"].verdict == "different"
    assert len(report.read_text(encoding="utf-8").splitlines()) == len(found)


def test_a_run_that_is_resumed_keeps_its_results_and_runs_the_other_tests(suite: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    both = [test for test in runner.read_tests(suite) if "both" in test.name]
    asyncio.run(runner.compare_all(both[:1], report=report))
    # A result that exists only in the report, and an incomplete line.
    report.write_text(report.read_text(encoding="utf-8").replace("equal", "trapped") + '{"name": "cut', "utf-8")
    resumed = asyncio.run(runner.compare_all(both, report=report, resume=True))
    assert [(result.name, result.verdict) for result in resumed] == [
        (both[0].name, "trapped"),
        (both[1].name, "equal"),
    ]
    assert runner.read_report(report) == resumed
