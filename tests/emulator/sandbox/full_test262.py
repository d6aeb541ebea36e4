"""Runs test262, the public conformance suite of JavaScript, as actions on `v8` and `fast`, and counts differences.

Pass a copy of https://github.com/tc39/test262, which is not part of this repository:

    python -m tests.emulator.sandbox.full_test262 PATH --answers v8.jsonl --report report.jsonl

Each test becomes an action. A test is *equal* if response, logs and error are the same on both engines. A test is
*trapped* if it causes a trap on `fast`, after which `auto` repeats the test on `v8`. All other tests are *different*.
The script does not check whether a test passes, because the service itself runs V8. The script stores the results of
`v8` in a file, so that only changed tests run again.

The suite takes hours on one core. With `--resume`, the script counts the tests in the report without running them
again.
"""

# ruff: noqa: T201 - a command, which prints what it found
from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.sandbox.auto import BUSY_MS, reason_to_repeat
from svcnb.emulator.sandbox.fast import FastEngine
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.protocol import Engine, EngineUnavailable, OperationRefused, Outcome
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

FOLDERS = ("language", "built-ins", "annexB", "staging", "intl402")
_METADATA = re.compile(r"/\*---\n(.*?)\n---\*/", re.DOTALL)
_LIST = re.compile(r"^(flags|includes|features):[ ]*(?:\[([^\]]*)\]|((?:\n[ ]+-[^\n]*)+))", re.MULTILINE)
# The function `print` of the suite's hosts, and an empty `main`, because tests are scripts.
_PRINT = "var print = (text) => console.log(text);\n"
_MAIN = "\n;var main = () => {};\n"
# The timeout is long, because a busy machine is slow. The limit of processor time ends endless tests earlier.
_TIMEOUT_MS = 120_000


@dataclasses.dataclass(frozen=True)
class Test:
    """Test as an action.

    Attributes:
        name: Path in the suite, followed by ``(strict)`` if the test runs in strict mode.
        source: JavaScript source.
        features: Language features in the test's metadata.
    """

    name: str
    source: str
    features: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of the comparison for one test.

    Attributes:
        name: Name of the `Test`.
        verdict: ``equal``, ``trapped`` or ``different``.
        trap: Unsupported operation, if the test is trapped.
        answers: Results of `v8` and the other engine, if the test is different.
    """

    name: str
    verdict: str
    trap: str = ""
    answers: tuple[list[str], list[str]] | None = None


def read_tests(suite: Path, *, only: str = "", every: int = 1, strict: bool = True) -> Iterator[Test]:
    """Returns the tests of a copy of the suite that can be actions. Areas alternate, so that a part is representative.

    The function omits modules, because an action is a script.

    Args:
        suite: Folder of the copy.
        only: Text that the paths must contain. Empty means all paths.
        every: Selects every n-th test.
        strict: Whether tests without a specified mode also run in strict mode.
    """
    root = suite / "test"
    files = sorted(file for folder in FOLDERS for file in (root / folder).rglob("*.js") if "_FIXTURE" not in file.name)
    random.Random(262).shuffle(files)
    names = [(file, file.relative_to(root).as_posix()) for file in files]
    for file, name in [(file, name) for file, name in names if only in name][::every]:
        text = file.read_bytes().decode("utf-8", errors="surrogateescape")
        about = _about(text)
        if "module" not in about["flags"]:
            yield from _modes(suite, name, text, about, strict=strict)


def _about(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {"flags": (), "includes": (), "features": ()}
    metadata = _METADATA.search(text.replace("\r", "\n"))
    for key, short, long in _LIST.findall(metadata[1] if metadata else ""):
        found[key] = tuple(part.strip() for part in re.split(r",|\n[ ]+-", short or long) if part.strip())
    return found


def _modes(suite: Path, name: str, text: str, about: dict[str, tuple[str, ...]], *, strict: bool) -> Iterator[Test]:
    flags = about["flags"]
    if "raw" in flags:
        yield Test(name, text + _MAIN, about["features"])
        return
    includes = ["assert.js", "sta.js", *about["includes"]]
    harness = ""
    if "async" in flags:
        harness = _PRINT
        includes.append("doneprintHandle.js")
    harness += "".join((suite / "harness" / include).read_text(encoding="utf-8") + "\n" for include in includes)
    if "onlyStrict" not in flags:
        yield Test(name, harness + text + _MAIN, about["features"])
    if "noStrict" not in flags and (strict or "onlyStrict" in flags):
        yield Test(f"{name} (strict)", '"use strict";\n' + harness + text + _MAIN, about["features"])


def shown(outcome: Outcome) -> list[str]:
    """Returns the compared parts of an outcome."""
    return [
        str(outcome.ok),
        repr(outcome.response),
        outcome.logs,
        outcome.error or "",
        outcome.error_kind or "",
    ]


class Comparison:
    """Comparison of the results of both engines for tests.

    Args:
        v8: Reference engine.
        fast: Engine to compare with the reference engine.
        answers: File with earlier results of `v8`, to which the class adds new results.
    """

    def __init__(self, v8: Engine, fast: Engine, answers: Path | None) -> None:
        self._v8, self._fast = v8, fast
        self._custody = Custody(b"\7" * 32, Vocabulary(), Randomness("test262"))
        self._network = Network("deny")
        self._limits = ActionLimits()._replace(timeout_ms=_TIMEOUT_MS)
        self._known: dict[str, list[str]] = {}
        if answers is not None and answers.is_file():
            for line in answers.read_text(encoding="utf-8").splitlines():
                key, answer = json.loads(line)
                self._known[key] = answer
        self._answers = None if answers is None else answers.open("a", encoding="utf-8")

    async def close(self) -> None:
        """Stops the engines."""
        if self._answers is not None:
            self._answers.close()
        await self._fast.stop()
        await self._v8.stop()
        await self._network.close()

    async def compare(self, test: Test) -> Result:
        """Runs one test, on `v8` only if `fast` does not end the test with a trap."""
        fast = await self._run(self._fast, test.source)
        if (trap := reason_to_repeat(fast)) is not None:
            return Result(test.name, "trapped", trap)
        right, other = await self._answer(test.source), shown(fast)
        if right == other:
            return Result(test.name, "equal")
        return Result(test.name, "different", answers=(right, other))

    async def _answer(self, source: str) -> list[str]:
        key = hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()
        if key not in self._known:
            outcome = await self._run(self._v8, source)
            self._known[key] = shown(outcome)
            if self._answers is not None and outcome.error_kind not in {"host", "timeout"}:
                print(json.dumps([key, self._known[key]]), file=self._answers, flush=True)
        return self._known[key]

    async def _run(self, engine: Engine, source: str) -> Outcome:
        host = ActionHost(
            custody=self._custody,
            cid="QmTest262",
            wallet_secret=_no_wallet,
            headers={"x-request-id": "test262"},
            network=self._network,
        )
        while True:
            try:
                return await engine.run(source, {}, self._limits, host)
            except EngineUnavailable:
                await asyncio.sleep(1)


async def _no_wallet(pkp_id: str) -> bytes:
    raise OperationRefused(f"this key may not use the wallet {pkp_id}")


def read_report(report: Path) -> list[Result]:
    """Returns the results in a report, or none if the file does not exist. Removes an incomplete last line."""
    if not report.is_file():
        return []
    whole = [line for line in report.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    report.write_bytes(b"".join(whole))
    return [Result(**json.loads(line)) for line in whole]


async def compare_all(
    tests: Iterable[Test],
    *,
    jobs: int = 2,
    answers: Path | None = None,
    report: Path | None = None,
    resume: bool = False,
) -> list[Result]:
    """Compares several tests at a time.

    Args:
        tests: Tests to run.
        jobs: Number of tests to run at the same time.
        answers: See `Comparison`.
        report: File to which the function writes a line of JSON for each test, or None.
        resume: Whether to keep the results in the report, and not to run their tests again.
    """
    v8, fast = V8Engine(ActionLimits(), spares=jobs), FastEngine(ActionLimits(), processes=jobs, busy_ms=BUSY_MS)
    await v8.start()
    await fast.start()
    comparison = Comparison(v8, fast, answers)
    results = read_report(report) if resume and report is not None else []
    done = {result.name for result in results}
    waiting = (test for test in tests if test.name not in done)
    lines = None if report is None else report.open("a" if resume else "w", encoding="utf-8")

    async def work() -> None:
        for test in waiting:
            results.append(await comparison.compare(test))
            if lines is not None:
                print(json.dumps(dataclasses.asdict(results[-1])), file=lines, flush=True)
            if len(results) % 1_000 == 0:
                print(counted(results), file=sys.stderr, flush=True)

    try:
        await asyncio.gather(*(work() for _ in range(jobs)))
    finally:
        if lines is not None:
            lines.close()
        await comparison.close()
    return results


def counted(results: list[Result]) -> str:
    """Returns one line with the counts."""
    of = Counter(result.verdict for result in results)
    return f"{len(results)} run: {of['equal']} equal, {of['trapped']} trapped, {of['different']} different"


def main() -> int:
    """Runs the suite. Returns 1 if a test is different."""
    parser = argparse.ArgumentParser(description="Compare the engines by test262.")
    parser.add_argument("suite", type=Path, help="folder of a copy of tc39/test262")
    parser.add_argument("--only", default="", help="part of the paths of the tests to run")
    parser.add_argument("--every", type=int, default=1, help="run each n-th test")
    parser.add_argument("--no-strict", action="store_true", help="run tests that allow both modes in sloppy mode only")
    parser.add_argument("--jobs", type=int, default=2, help="tests at a time")
    parser.add_argument("--answers", type=Path, help="file that keeps the answers of v8")
    parser.add_argument("--report", type=Path, help="file for a line of JSON for each test")
    parser.add_argument("--resume", action="store_true", help="keep the results in the report and run the other tests")
    given = parser.parse_args()
    if not (given.suite / "harness" / "assert.js").is_file():
        parser.error(f"{given.suite} is not a copy of test262: it has no harness/assert.js")
    tests = read_tests(given.suite, only=given.only, every=given.every, strict=not given.no_strict)
    results = asyncio.run(
        compare_all(tests, jobs=given.jobs, answers=given.answers, report=given.report, resume=given.resume)
    )
    traps = Counter(result.trap for result in results if result.verdict == "trapped")
    for trap, count in traps.most_common(40):
        print(f"{count:6} {trap}")
    different = [result for result in results if result.verdict == "different"]
    for result in different[:100]:
        print(f"different: {result.name}")
    print(counted(results))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
