"""Command ``svcnb workshop``, which runs and controls a workshop."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.cli._parameters import PORT, FiniteNumber
from svcnb.cli._serve import listening_error
from svcnb.exit_codes import ExitCode
from svcnb.protocol.limits import LEARNER_IDLE_STOP_S, MAX_CREDIT_CENTS
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.workshop import Workshop, WorkshopServer
    from svcnb.workshop.roster_file import Entry

PLACES = "places"
HAND_OUT_FILE = "hand-out.json"
BOARD_FILE = "board.url"
PORT_FILE = "port"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104 - the command rejects these addresses
_ROSTERS = (".csv", ".txt")


@click.group("workshop", cls=CommandGroup)
def command() -> None:
    """Run a workshop, with a progress board and with an emulator for each learner.

    `start` runs the server. All other commands except `rehearse` send requests to the server that uses the same FOLDER.
    """


_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="workshop",
    show_default=True,
    help="Folder of the workshop.",
)


@command.command(
    "start",
    epilog=examples("svcnb workshop start roster.csv", "svcnb workshop start ada 'Grace Hopper' --host 10.0.0.5"),
)
@click.argument("learners", nargs=-1)
@click.option(
    "--from-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV file of learners. You can also pass a .csv or .txt file as an argument.",
)
@click.option(
    "--credit",
    type=click.IntRange(0, MAX_CREDIT_CENTS),
    default=500,
    show_default=True,
    help="Credit of each new account, in cents.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", "--desk-port", type=PORT, default=0, help="Port to listen on; 0 uses a free port.")
@click.option(
    "--url", "--desk-url", help="Address that the learners use for the server, if this address differs from --host."
)
@click.option(
    "--idle-minutes",
    type=FiniteNumber(min=0, min_open=True),
    default=LEARNER_IDLE_STOP_S / 60,
    show_default=True,
    help="Number of minutes without requests until a learner's emulator stops. The next request starts the emulator "
    "again.",
)
@_folder
def start(
    learners: tuple[str, ...],
    from_file: Path | None,
    credit: int,
    host: str,
    port: int,
    url: str | None,
    idle_minutes: float,
    folder: Path,
) -> None:
    """Run the workshop server until Ctrl-C.

    LEARNERS are display names, e-mail addresses, or files that end in .csv or .txt. Each line of a file contains one
    learner, with a name, an e-mail address, or both. A line that contains only a comma, a semicolon or a tab adds a
    learner without a name. On the command line, put names with spaces in quotation marks.

    By default, the server listens on 127.0.0.1. This machine then runs the emulators of all learners, and starts each
    emulator on demand. With --url or another --host, learners run the emulators on their own machines, and this server
    collects their progress.

    The command writes each learner's environment variables to FOLDER/places/NAME.env. A learner loads this file and
    opens the lessons with `. NAME.env && svcnb lab`. FOLDER/hand-out.json contains the environment variables of all
    learners. FOLDER/board.url contains the board's address. FOLDER/server.json contains the server's address and token.
    Only you can read these files. After a restart, the server continues with the same learners and states.
    SVC_INSTRUCTOR_TOKEN sets the token of the server, for a JupyterHub on another machine.
    """
    if host in _EVERYWHERE and url is None:
        raise click.BadParameter(
            (
                f"the learners cannot reach {host}, because this value means all addresses of this machine. Pass one "
                "address that they can reach, for example --host 10.0.0.5, or use --url to pass the address that they "
                "use."
            ),
            param_hint="--host",
        )
    from svcnb.client.config import clean_url
    from svcnb.files import replace_file
    from svcnb.workshop import Workshop
    from svcnb.workshop.hub import SERVER_FILE
    from svcnb.workshop.roster_file import read_roster

    url = url and clean_url(url, "--url")
    if not all(given.strip() for given in learners):
        raise click.BadParameter(
            "a learner has an empty name. Pass a name or an e-mail address.", param_hint="LEARNERS"
        )
    everyone: list[Entry] = []
    for given in [*learners, *([str(from_file)] if from_file else [])]:  # check this before the first write
        is_file = given.lower().endswith(_ROSTERS) or (from_file is not None and given == str(from_file))
        everyone += read_roster(Path(given)) if is_file else [_entry(given)]
    stop = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stop.set())
    hosts = host in _LOOPBACK and url is None
    with Workshop(credit_cents=credit, folder=folder, idle_stop_s=idle_minutes * 60, hosts_emulators=hosts) as room:
        for each in everyone:
            room.add(each.name, each.email)
        try:
            server = _serve(room, host, port, url, folder)
            for name, environment in room.hand_out().items():
                _write_place(folder, name, environment)
            replace_file(folder / BOARD_FILE, f"{server.board_url}\n")
            replace_file(folder / SERVER_FILE, json.dumps({"url": server.url, "token": server.instructor_token}))
            click.echo(f"Workshop  {server.url}")
            click.echo(f"Emulators {'on this machine, on demand' if hosts else 'on the machines of the learners'}")
            click.echo(f"Board     address in {folder / BOARD_FILE}")
            click.echo(f"Learners  {folder / PLACES} ({_count(len(room.hand_out()), 'learner')})")
            click.echo("Press Ctrl-C to stop the workshop. The server stores all states and progress.")
            stop.wait()
        finally:
            (folder / SERVER_FILE).unlink(missing_ok=True)


@command.command("board")
@_folder
@output_options
def board(folder: Path, as_json: bool) -> None:
    """Show the current lesson and progress of each learner, and which learners are stuck."""
    found = _ask(folder, "GET", "/progress")
    columns = 6  # omit the lessons, which the page shows
    rows = [dict(zip(found["heads"][:columns], row, strict=False)) for row in found["rows"]]
    show(found["learners"] if as_json else rows, as_json=as_json, columns=("name", "display", "email"))


@command.command("export", epilog=examples("svcnb workshop export progress.csv"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_folder
def export(file: Path, folder: Path) -> None:
    """Write the progress of all learners to FILE as CSV, with a column for each exercise.

    FILE contains names and e-mail addresses, and only you can read it.
    """
    from svcnb.files import replace_file

    found = _ask(folder, "GET", "/progress")
    replace_file(file, found["csv"])
    click.echo(f"{file}: {_count(len(found['learners']), 'learner')}")


@command.command("unlock", epilog=examples("svcnb workshop unlock 1 2"))
@click.argument("lessons", nargs=-1, type=int)
@_folder
def unlock(lessons: tuple[int, ...], folder: Path) -> None:
    """Unlock the solutions of LESSONS for the learners. LESSONS are numbers, and the default is all lessons.

    A learner's notebook downloads the solutions to the folder solutions/ when the learner next starts a lesson or
    answers an exercise.
    """
    unlocked = _ask(folder, "POST", "/solutions", {"lessons": list(lessons)})["unlocked"]
    click.echo(f"Unlocked solutions: {', '.join(str(int(name[:2])) for name in unlocked)}")


@command.command("add")
@click.argument("learner")
@click.option("--email", default="", help="The learner's e-mail address.")
@_folder
def add(learner: str, email: str, folder: Path) -> None:
    """Add one learner. The command writes FOLDER/places/NAME.env and updates FOLDER/hand-out.json."""
    given = _entry(learner)
    found = _ask(folder, "POST", _path(given.name or given.email, "add"), {"email": email or given.email})
    place = _write_place(folder, found["name"], found["environment"])
    click.echo(f"{learner or found['name']}: the environment file is {place}")


@command.command("reset")
@click.argument("learner")
@_folder
def reset(learner: str, folder: Path) -> None:
    """Delete a learner's states and progress. Other learners and the learner's environment stay unchanged."""
    found = _ask(folder, "POST", _path(learner, "reset"), {})
    _write_place(folder, found["name"], found["environment"])
    click.echo(f"{learner}: all states and progress were deleted. The first cell of a lesson starts a new emulator.")


@command.command("save", epilog=examples("svcnb workshop save ada 'before lunch'"))
@click.argument("learner")
@click.argument("label")
@_folder
def save(learner: str, label: str, folder: Path) -> None:
    """Save the state of a learner's emulators, with all accounts, keys and credit, under the name LABEL."""
    _ask(folder, "POST", _path(learner, "save"), {"label": label})
    click.echo(f"{learner}: saved as {label!r}.")


@command.command("restore")
@click.argument("learner")
@click.argument("label")
@_folder
def restore(learner: str, label: str, folder: Path) -> None:
    """Restore a learner's emulators from the saved state LABEL."""
    _ask(folder, "POST", _path(learner, "restore"), {"label": label})
    click.echo(f"{learner}: restored from {label!r}.")


@command.command("fault", epilog=examples("svcnb workshop fault chain --times 5"))
@click.argument("part", type=click.Choice(["chain", "billing", "runtime", "cpu", "triggers"]))
@click.option(
    "--times",
    type=click.IntRange(1),
    help="Number of affected calls. Default: all calls, until you run `svcnb workshop fault-clear`.",
)
@click.option("--delay", type=FiniteNumber(0), help="Delay of each call, in seconds.")
@_folder
def fault(part: str, times: int | None, delay: float | None, folder: Path) -> None:
    """Inject a fault into a PART of the service, in all running emulators."""
    order = {"part": part, "times": times, "delay_ms": None if delay is None else round(delay * 1000)}
    given = {name: value for name, value in order.items() if value is not None}
    many = _ask(folder, "POST", "/faults", given)["emulators"]
    if not many:
        click.echo(f"{part}: no emulator is running, so the fault was not injected.")
        return
    calls = "all calls" if not times else "the next call" if times == 1 else f"the next {times} calls"
    click.echo(
        f"{part}: {calls} in {_count(many, 'running emulator')}; to remove the fault, run `svcnb workshop fault-clear`."
    )


@command.command("fault-clear")
@_folder
def fault_clear(folder: Path) -> None:
    """Remove all injected faults from all running emulators."""
    many = _ask(folder, "DELETE", "/faults")["emulators"]
    click.echo(f"Removed all faults in {_count(many, 'running emulator')}.")


@command.command("rehearse", epilog=examples("svcnb workshop rehearse --learners 50"))
@click.option(
    "--learners",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of simulated learners.",
)
@click.option("--first", type=click.IntRange(0, 17), default=1, show_default=True, help="Number of the first lesson.")
@click.option("--last", type=click.IntRange(0, 17), default=9, show_default=True, help="Number of the last lesson.")
@click.option(
    "--pause",
    type=FiniteNumber(min=0),
    default=20.0,
    show_default=True,
    help="Pause after each cell, in seconds.",
)
@output_options
def rehearse(learners: int, first: int, last: int, pause: float, as_json: bool) -> None:
    """Test whether this machine can serve a number of learners.

    Each learner runs the cells of the lessons in a kernel, with their own emulators. Exit code 1 means that a cell
    failed, or that more than 5% of the cells took longer than 5 s. Ctrl-C stops the rehearsal without a result.
    """
    from svcnb.workshop.rehearsal import rehearse as run

    def begins(cells: int, pauses_s: float) -> None:
        minutes = math.ceil(pauses_s / 60)
        click.echo(
            f"Rehearsing with {_count(learners, 'learner')} and {cells} cells each, for at least {minutes} min. "
            "Press Ctrl-C to stop the rehearsal.",
            err=True,
        )

    found = run(learners, first=first, last=last, pause_s=pause, begins=begins)
    show(found.model_dump() if as_json else found.rows(), as_json=as_json)
    if not found.passed:
        raise SystemExit(ExitCode.FAILED)


def _count(many: int, what: str) -> str:
    return f"{many} {what}{'' if many == 1 else 's'}"


def _entry(text: str) -> Entry:
    """Parses a learner from the command line: a name or an e-mail address."""
    from svcnb.workshop.roster import clean
    from svcnb.workshop.roster_file import Entry

    return Entry("", clean(text, "e-mail address")) if "@" in text else Entry(clean(text))


def _path(learner: str, verb: str) -> str:
    return f"/learners/{quote(learner.strip() or ' ', safe='')}/{verb}"


def _write_place(folder: Path, name: str, environment: Mapping[str, str]) -> Path:
    """Writes a learner's environment variables to a shell file and to hand-out.json.

    Both files contain a token, so their mode is 0600. Returns the path of the shell file.
    """
    import shlex

    from svcnb.files import replace_file

    lines = (f"export {variable}={shlex.quote(value)}\n" for variable, value in sorted(environment.items()))
    place = folder / PLACES / f"{name}.env"
    replace_file(place, "".join(lines))
    hand_out = folder / HAND_OUT_FILE
    everyone = _read_json(hand_out) if hand_out.exists() else {}
    replace_file(hand_out, json.dumps(everyone | {name: dict(environment)}, indent=1))
    return place


def _serve(room: Workshop, host: str, port: int, url: str | None, folder: Path) -> WorkshopServer:
    """Starts the server, and stores its port in the folder.

    With port 0, the server uses the stored port again, if possible, because the learners' files contain this port.
    """
    from svcnb.files import replace_file

    serve = partial(room.serve, host=host, url=url, instructor_token=os.environ.get("SVC_INSTRUCTOR_TOKEN"))
    kept = folder / PORT_FILE
    if not port and kept.exists():
        with suppress(OSError, ValueError):
            return serve(port=int(kept.read_text(encoding="ascii")))
    try:
        server = serve(port=port)
    except (OSError, UnicodeError) as error:
        raise listening_error(host, port, error) from error
    replace_file(kept, str(server.port))
    return server


def _ask(folder: Path, method: str, path: str, body: object = None) -> Any:
    from svcnb.control import EmulatorUnreachable
    from svcnb.control.plane import ControlPlane
    from svcnb.workshop.hub import SERVER_FILE

    try:
        server = _read_json(folder / SERVER_FILE)
        return ControlPlane(server["url"], server["token"]).request(method, path, body)
    except (FileNotFoundError, EmulatorUnreachable):
        raise EmulatorUnreachable(
            f"no workshop is running in the folder {folder}",
            hint=f"Start one: `svcnb workshop start ada grace --folder {folder}`. If a workshop is running in another "
            "folder, pass this folder with --folder.",
        ) from None


def _read_json(path: Path) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.ClickException(
            f"{path} is not valid JSON ({error}). Delete this file, and start the workshop again."
        ) from None
