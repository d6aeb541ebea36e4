"""Command ``svcnb lab``, which opens the lessons in JupyterLab."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import click

from svcnb.cli import _workbench
from svcnb.cli._output import examples
from svcnb.cli._parameters import PORT
from svcnb.cli._serve import listening_error
from svcnb.lessons import lessons_folder

FIRST_LESSON = "01-quickstart.ipynb"
STOP_TIMEOUT_S = 15.0
START_TIMEOUT_S = 300.0
POLL_S = 0.2


@click.command("lab", epilog=examples("svcnb lab --folder my-lessons --port 8888", "svcnb lab --workbench"))
@click.option("--port", type=PORT, default=0, help="Port of JupyterLab; 0 uses a free port.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the lessons. The command creates a missing folder.",
)
@click.option("--state", type=click.Path(file_okay=False, path_type=Path), help="Folder for the emulator's state.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the browser.")
@click.option("--shared", is_flag=True, help="Use one emulator for all lessons instead of one for each lesson.")
@click.option("--workbench", is_flag=True, help="Open a notebook with all panels instead of the lessons.")
def command(port: int, folder: Path | None, state: Path | None, browser: bool, shared: bool, workbench: bool) -> None:
    """Open the lessons in JupyterLab, with a running emulator.

    In a working copy of the repository, the command opens the original lessons. If svcnb is an installed package, the
    command first copies the lessons to a folder (./svcnb-lessons), and does not overwrite your changes. Ctrl-C stops
    JupyterLab and the emulator.

    Notebooks find the emulator in SVC_BASE_URL, so `svcnb.Client()` needs no argument. Without --shared, each lesson
    also starts its own emulator. This emulator has fixed keys and a fixed time, so the outputs of cells match the saved
    outputs.

    In a workshop (SVC_WORKSHOP_URL is set), notebooks use the emulators that the workshop server runs for this learner.
    If the server runs no emulators, lessons start their own. The copy of the lessons contains no solutions. Lessons
    download the solutions after the instructor has unlocked them.

    With --workbench, JupyterLab opens a notebook with one cell, which shows accounts, actions, permissions, runs and
    triggers as panels. The default folder of this notebook is ./svcnb-workbench.
    """
    if find_spec("jupyterlab") is None:
        raise ModuleNotFoundError("No module named 'jupyterlab'", name="jupyterlab")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM must also stop JupyterLab and the emulator
    if workbench:
        shown, first = _workbench.workbench_folder(folder or Path("svcnb-workbench")), _workbench.NAME
    else:
        shown, first = lessons_folder(folder, solutions=not os.environ.get("SVC_WORKSHOP_URL")), FIRST_LESSON
    service = _workshop(state) or _emulator(state, shared=shared)
    with service as (what, settings), tempfile.TemporaryDirectory(prefix="svcnb-lab-") as own:
        environment = os.environ | settings
        token = secrets.token_urlsafe(24)
        with _held(port) as chosen:
            server = subprocess.Popen(
                _jupyter_command(chosen, shown, first, browser=browser),
                env=environment | {"JUPYTER_TOKEN": token} | _quiet(Path(own)),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # otherwise JupyterLab would ask for confirmation after Ctrl-C
            )
            try:
                click.echo("Starting JupyterLab …")
                _wait_until_it_answers(server, chosen)  # the address must work before the command prints it
            except BaseException:
                _end(server)
                raise
        try:
            url = f"http://127.0.0.1:{chosen}/lab/tree/{first}?token={token}"
            click.echo(f"JupyterLab  {url}")
            click.echo(f"{what:<12}{settings['SVC_BASE_URL']}")
            click.echo(f"{'Folder' if workbench else 'Lessons':<12}{shown}")
            click.echo(f"Press Ctrl-C to stop JupyterLab{' and the emulator' if what == 'Emulator' else ''}.")
            server.wait()
        finally:
            _end(server)


@contextmanager
def _emulator(state: Path | None, *, shared: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Starts an emulator, and yields its label and the environment variables through which notebooks find it."""
    from svcnb.launch import Emulator

    with Emulator(state=state) as emulator:
        settings = {"SVC_BASE_URL": emulator.base_url, "SVC_TRIGGERS_URL": emulator.triggers_url}
        lessons = "shared" if shared else "own"
        yield "Emulator", settings | {"SVC_RPC_URL": emulator.rpc_url, "SVC_LESSONS": lessons}


def _workshop(state: Path | None) -> AbstractContextManager[tuple[str, dict[str, str]]] | None:
    """Returns a context manager for the emulator that the workshop server runs for this learner.

    The context manager yields the same kinds of values as `_emulator`. Returns None if there is no such emulator.
    """
    base_url = os.environ.get("SVC_BASE_URL")
    if not base_url or not os.environ.get("SVC_WORKSHOP_URL"):
        return None
    if state is not None:
        raise click.UsageError(
            "--state has no effect in a workshop, because the workshop server stores the state. Omit --state, or unset "
            "SVC_WORKSHOP_URL."
        )
    return nullcontext(("Workshop", {"SVC_BASE_URL": base_url}))


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    from urllib.request import ProxyHandler, build_opener

    ask = build_opener(ProxyHandler({})).open  # a proxy cannot reach this machine's loopback ports
    deadline = time.monotonic() + START_TIMEOUT_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with ask(f"http://127.0.0.1:{port}/api", timeout=POLL_S * 10):
                return
        except OSError:
            time.sleep(POLL_S)
    problem = (
        f"JupyterLab did not respond on port {port} within {START_TIMEOUT_S:g} seconds"
        if server.poll() is None
        else f"JupyterLab ended with exit code {server.returncode} before it responded on port {port}"
    )
    raise click.ClickException(
        f"{problem}. The output of JupyterLab is above. To check the installation, run `python -m jupyterlab "
        "--version`. To find what is missing, run `svcnb doctor`."
    )


def _jupyter_command(port: int, folder: Path, first: str, *, browser: bool) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--log-level=WARN",
    ]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append(
            "--allow-root"
        )  # Containers and workshops often run as root. The server listens on loopback only.
    return command


def _quiet(own: Path) -> dict[str, str]:
    """Returns environment variables that disable JupyterLab's dialog about news.

    The rest of the user's configuration stays unchanged.
    """
    page = own / "labconfig" / "page_config.json"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))
    paths = [str(own), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    return {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


@contextmanager
def _held(port: int) -> Iterator[int]:
    """Yields the port for JupyterLab: the given port, or a free port for 0.

    On Linux, the port is reserved until the end of the block. JupyterLab can listen on the reserved port.
    """
    with socket.socket() as holder:
        if os.name == "posix":  # on Windows, this option would accept a port that another program uses
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind(("127.0.0.1", port))
        except OSError as error:
            raise listening_error("127.0.0.1", port, error) from error
        chosen: int = holder.getsockname()[1]
        # On Linux, JupyterLab can bind and listen on the port while this socket is also bound to the port. On other
        # systems, release the port first, although another process can then use it.
        if sys.platform != "linux":
            holder.close()
        yield chosen


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
