"""``svcnb workshop``."""

from __future__ import annotations

import json
import os
import secrets
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import Noun, output_options, show
from svcnb.protocol.nesting import parse

DESK_FILE = "desk.json"
PLACES = "places"
_EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104 - refused
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("workshop", cls=Noun)
def command() -> None:
    """Teach a room: one emulator, an account and a place for every learner.

    `start` runs it; the other commands talk to the one that runs in the same FOLDER.
    """


def _folder(wrapped: Any) -> Any:
    return click.option(
        "--folder", type=_FOLDER, default="workshop", show_default=True, help="Where the workshop is kept."
    )(wrapped)


@command.command(
    "start",
    epilog=examples(
        "svcnb workshop start ada grace alan", "svcnb workshop start --from-file names.txt --credit 500 --host 10.0.0.5"
    ),
)
@click.argument("learners", nargs=-1)
@click.option("--from-file", type=click.File(encoding="utf-8"), help="Names of learners, one a line.")
@click.option("--credit", type=int, default=500, show_default=True, help="Credit of each account, in cents.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=int, default=0, help="Port of the emulator; 0 takes a free one.")
@click.option("--desk-port", type=int, default=0, help="Port of the desk; 0 takes a free one.")
@click.option("--desk-url", help="The desk's address as learners reach it, if that is another.")
@_folder
def start(
    learners: tuple[str, ...],
    from_file: Any,
    credit: int,
    host: str,
    port: int,
    desk_port: int,
    desk_url: str | None,
    folder: Path,
) -> None:
    """Run the emulator and the desk until Ctrl-C.

    Writes FOLDER/places/NAME.env (a learner's environment, for `. NAME.env && svcnb lab`), the same for
    everybody as FOLDER/hand-out.json, and FOLDER/desk.json (the desk's address and token), readable for you alone.
    Started again, it goes on with the same learners and accounts.
    """
    if host in _EVERYWHERE:
        raise click.BadParameter(
            f"learners cannot reach {host}. Name this machine's address in their network, for example --host 10.0.0.5.",
            param_hint="--host",
        )
    from svcnb.launch import Emulator
    from svcnb.toolkit.files import replace_file
    from svcnb.workshop import Workshop
    from svcnb.workshop.roster import check_name

    names = [*learners, *(line.strip() for line in from_file or () if line.strip())]
    for name in names:  # all of them, before the first account is made
        check_name(name)
    stop = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stop.set())
    token = os.environ.get("SVC_CONTROL_TOKEN") or secrets.token_urlsafe(24)
    with Emulator(state=folder / "state", host=host, port=port, control_token=token) as emulator:
        room = Workshop(emulator, credit_cents=credit, folder=folder)
        try:
            desk = room.open_desk(host=host, port=desk_port, url=desk_url)
            for name in names:
                room.add(name)
            replace_file(folder / "hand-out.json", json.dumps(room.hand_out(), indent=1))
            replace_file(folder / DESK_FILE, json.dumps({"url": desk.url, "token": desk.teacher_token}))
            click.echo(f"Emulator  {emulator.base_url}")
            click.echo(f"Board     {desk.board_url}")
            for name, environment in room.hand_out().items():
                _write_place(folder, name, environment)
            many = len(room.hand_out())
            click.echo(f"Places    {folder / PLACES} ({many} learner{'' if many == 1 else 's'})")
            click.echo("Ctrl-C stops it; accounts and progress are kept.")
            stop.wait()
        finally:
            room.close()
            (folder / DESK_FILE).unlink(missing_ok=True)


@command.command("board")
@_folder
@output_options
def board(folder: Path, as_json: bool) -> None:
    """Show who has solved how much."""
    found = _ask(folder, "GET", "/board.json")
    solved = {name: f"{sum(each['right'] for each in done.values())} solved" for name, done in found.items()}
    show(found if as_json else solved, as_json=as_json)


@command.command("add")
@click.argument("learner")
@_folder
def add(learner: str, folder: Path) -> None:
    """Give one more learner a place; prints the environment of their notebooks."""
    environment = _ask(folder, "POST", f"/learners/{learner}/add", {})["environment"]
    _write_place(folder, learner, environment)
    show(environment, as_json=True)


@command.command("reset")
@click.argument("learner")
@_folder
def reset(learner: str, folder: Path) -> None:
    """Give a learner a fresh account; prints the environment of their notebooks."""
    environment = _ask(folder, "POST", f"/learners/{learner}/reset", {})["environment"]
    _write_place(folder, learner, environment)
    show(environment, as_json=True)


@command.command("save", epilog=examples("svcnb workshop save ada 'before lunch'"))
@click.argument("learner")
@click.argument("label")
@_folder
def save(learner: str, label: str, folder: Path) -> None:
    """Remember what a learner's account holds, under LABEL."""
    show(_ask(folder, "POST", f"/learners/{learner}/save", {"label": label}), as_json=False)


@command.command("restore")
@click.argument("learner")
@click.argument("label")
@_folder
def restore(learner: str, label: str, folder: Path) -> None:
    """Make a learner's account hold again what was saved under LABEL."""
    show(_ask(folder, "POST", f"/learners/{learner}/restore", {"label": label}), as_json=False)


@command.command("fault", epilog=examples("svcnb workshop fault chain --times 5"))
@click.argument("part", type=click.Choice(["chain", "billing", "runtime", "cpu", "triggers"]))
@click.option("--times", type=int, help="How many calls; without it, every call until `fault-clear`.")
@click.option("--delay", type=float, help="Seconds that each call waits first.")
@_folder
def fault(part: str, times: int | None, delay: float | None, folder: Path) -> None:
    """Break a PART of the service on purpose, for the whole room."""
    order = {"part": part, "times": times, "delay_ms": None if delay is None else round(delay * 1000)}
    _ask(folder, "POST", "/teacher/faults", {name: value for name, value in order.items() if value is not None})
    calls = "all calls" if not times else "the next call" if times == 1 else f"the next {times} calls"
    click.echo(f"{part}: {calls}; `svcnb workshop fault-clear` ends it.")


@command.command("fault-clear")
@_folder
def fault_clear(folder: Path) -> None:
    """Let everything work again."""
    _ask(folder, "DELETE", "/teacher/faults")
    click.echo("Everything works again.")


def _write_place(folder: Path, name: str, environment: Mapping[str, str]) -> None:
    """A learner's environment as a file for a shell, for its owner alone: keys stand in it."""
    import shlex

    from svcnb.toolkit.files import replace_file

    lines = (f"export {variable}={shlex.quote(value)}\n" for variable, value in sorted(environment.items()))
    replace_file(folder / PLACES / f"{name}.env", "".join(lines))


def _ask(folder: Path, method: str, path: str, body: object = None) -> Any:
    from svcnb.control.plane import ControlPlane

    try:
        desk = parse((folder / DESK_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise click.ClickException(
            f"no workshop runs in the folder {folder}. Next step: `svcnb workshop start ada grace --folder {folder}`."
        ) from None
    return ControlPlane(desk["url"], desk["token"]).request(method, path, body)
