"""``svcnb lab``: from nothing to the first lesson."""

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
from pathlib import Path

import click

from svcnb.cli._examples import examples
from svcnb.lessons import lessons_folder

FIRST_LESSON = "01-quickstart.ipynb"
STOP_TIMEOUT_S = 15.0
START_TIMEOUT_S = 300.0
POLL_S = 0.2


@click.command("lab", epilog=examples("svcnb lab --folder my-lessons --port 8888"))
@click.option("--port", type=int, default=0, help="Port of JupyterLab; 0 takes a free one.")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Where the lessons are, or are put.")
@click.option(
    "--state", type=click.Path(file_okay=False, path_type=Path), help="Folder that keeps the emulator's state."
)
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@click.option("--shared", is_flag=True, help="Let the lessons use this one emulator instead of one each.")
def command(port: int, folder: Path | None, state: Path | None, browser: bool, shared: bool) -> None:
    """Open JupyterLab on the lessons, with the emulator running.

    The lessons of a working copy are opened where they are; those of an installed package are copied into a folder of
    your own first (./svcnb-lessons), and never over something you changed. Ctrl-C stops both.

    Notebooks find the emulator in SVC_BASE_URL; `svcnb.Client()` needs no argument there. Each lesson starts one of its
    own beside it, with fixed keys and time, so that its outputs are those that are printed.

    With a place in a workshop (its environment, SVC_WORKSHOP_URL in it), notebooks use the emulators that the machine
    of the workshop runs for this learner. If it runs none, everything is as above. The copy of the lessons contains no
    solutions; they arrive when the instructor unlocks them.
    """
    if _missing("jupyterlab"):
        raise ModuleNotFoundError("No module named 'jupyterlab'", name="jupyterlab")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # however it is told to stop, it stops both
    lessons = lessons_folder(folder, solutions=not os.environ.get("SVC_WORKSHOP_URL"))
    service = _workshop(state) or _emulator(state, shared=shared)
    with service as (what, settings), tempfile.TemporaryDirectory(prefix="svcnb-lab-") as own:
        environment = os.environ | settings
        token = secrets.token_urlsafe(24)
        with _held(port) as chosen:
            server = subprocess.Popen(
                _jupyter_command(chosen, lessons, browser=browser),
                env=environment | {"JUPYTER_TOKEN": token} | _quiet(Path(own)),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # else Ctrl-C would make it ask whether it should stop
            )
            try:
                click.echo("Starting JupyterLab …")
                _wait_until_it_answers(server, chosen)  # an address that refuses the first click is a bad first minute
            except BaseException:
                _end(server)
                raise
        try:
            url = f"http://127.0.0.1:{chosen}/lab/tree/{FIRST_LESSON}?token={token}"
            click.echo(f"JupyterLab  {url}")
            click.echo(f"{what:<12}{settings['SVC_BASE_URL']}")
            click.echo(f"Lessons     {lessons}")
            click.echo("Ctrl-C stops both." if what == "Emulator" else "Ctrl-C stops JupyterLab.")
            server.wait()
        finally:
            _end(server)


@contextmanager
def _emulator(state: Path | None, *, shared: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """An emulator of this command's own, and where notebooks find it."""
    from svcnb.launch import Emulator

    with Emulator(state=state) as emulator:
        yield (
            "Emulator",
            {
                "SVC_BASE_URL": emulator.base_url,
                "SVC_TRIGGERS_URL": emulator.triggers_url,
                "SVC_RPC_URL": emulator.rpc_url,
                "SVC_LESSONS": "shared" if shared else "own",
            },
        )


def _workshop(state: Path | None) -> AbstractContextManager[tuple[str, dict[str, str]]] | None:
    """The emulator that a workshop's machine runs for this learner; None without one."""
    base_url = os.environ.get("SVC_BASE_URL")
    if not base_url or not os.environ.get("SVC_WORKSHOP_URL"):
        return None
    if state is not None:
        raise click.UsageError(
            "the machine of the workshop keeps the state. Leave out --state, or unset SVC_WORKSHOP_URL."
        )
    return nullcontext(("Workshop", {"SVC_BASE_URL": base_url}))


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    from urllib.request import ProxyHandler, build_opener

    ask = build_opener(ProxyHandler({})).open  # a proxy of the network's knows nothing of this machine's ports
    deadline = time.monotonic() + START_TIMEOUT_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with ask(f"http://127.0.0.1:{port}/api", timeout=POLL_S * 10):
                return
        except OSError:
            time.sleep(POLL_S)
    raise click.ClickException(
        f"JupyterLab did not answer on port {port}; what it said stands above. Next step: "
        "`python -m jupyterlab --version` shows whether it is whole, `svcnb doctor` what else is missing."
    )


def _jupyter_command(port: int, lessons: Path, *, browser: bool) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={lessons}",
        f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}",
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
        )  # containers and workshops often run as root; the server listens on loopback only
    return command


def _quiet(own: Path) -> dict[str, str]:
    """Keeps JupyterLab's own question about news away; everything else of the user's set-up stays."""
    page = own / "labconfig" / "page_config.json"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}))
    paths = [str(own), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    return {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


@contextmanager
def _held(port: int) -> Iterator[int]:
    """Yields the port, or for 0 a free one, which no other program is given before JupyterLab listens there."""
    if port:
        yield port
        return
    with socket.socket() as holder:
        # Only Linux lets two take a port so, as long as one of them listens; elsewhere somebody may be quicker.
        if holds := sys.platform == "linux":
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        free: int = holder.getsockname()[1]
        if not holds:
            holder.close()
        yield free


def _missing(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is None


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
