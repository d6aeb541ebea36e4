"""``svcnb emulator status`` and its siblings: control of an emulator that runs in another terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

import click

from svcnb import control_tokens
from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show
from svcnb.control.faults import Part

if TYPE_CHECKING:
    from svcnb.control import EmulatorControl

STOP_TIMEOUT_S = 30.0
POLL_S = 0.05


def _with_emulator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the control of its emulator."""

    @click.option("--url", help="Address of the emulator. Default: the one that runs, if there is only one.")
    @wraps(function)
    def command(*given: Any, url: str | None, **options: Any) -> Any:
        return function(*given, _control(_address(url)), **options)

    return command


def _address(url: str | None) -> str:
    """The address given, or that of the only emulator that runs."""
    if url is not None:
        return url.rstrip("/")
    found = control_tokens.running()
    if not found:
        raise click.ClickException(
            "no emulator of yours runs. Start one with `svcnb emulator`, or name one that someone else started with "
            "--url and its token in SVC_CONTROL_TOKEN."
        )
    if len(found) > 1:
        addresses = ", ".join(each.base_url for each in found)
        raise click.ClickException(f"several emulators run: choose one with --url ({addresses}).")
    return found[0].base_url


def _control(address: str) -> EmulatorControl:
    from svcnb.launch import Emulator

    return Emulator.connect(address, control_token=os.environ.get("SVC_CONTROL_TOKEN"))


def _pid(address: str) -> int | None:
    """The process of an emulator of this user on this machine."""
    port = urlsplit(address).port
    if not port or control_tokens.find(address) is None:
        return None
    return next((each.pid for each in control_tokens.running() if urlsplit(each.base_url).port == port), None)


@click.command("status")
@click.option("--url", help="Address of the emulator. Default: all that run.")
@output_options
def status(url: str | None, as_json: bool) -> None:
    """List the emulators that run, with clock, accounts and faults as their control plane shows them."""
    addresses = [each.base_url for each in control_tokens.running()] if url is None else [url.rstrip("/")]
    rows = []
    for address in addresses:
        state = _control(address).state()
        row: dict[str, Any] = {"address": address, "pid": _pid(address), "now": state["clock"]["now"]}
        rows.append(row | ({"state": state} if as_json else _brief(state)))
    show(rows, as_json=as_json)


def _brief(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: len(entry) if isinstance(entry, (list, dict)) else entry
        for name, entry in state.items()
        if name in {"accounts", "runs", "faults", "snapshots", "engine"}
    }


@click.command("stop")
@click.option("--url", help="Address of the emulator. Default: the one that runs, if there is only one.")
def stop(url: str | None) -> None:
    """Stop an emulator of this machine, and wait until it has ended."""
    import signal

    address = _address(url)
    pid = _pid(address)
    if pid is None:
        raise click.ClickException(
            f"no running emulator of yours at {address}, or one with a control token of its own: "
            "stop it where it was started."
        )
    _control(address).state()  # a process that took the number of one that ended is never signalled
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_TIMEOUT_S
    while any(each.pid == pid for each in control_tokens.running()):
        if time.monotonic() > until:
            raise click.ClickException(f"the emulator (process {pid}) did not end in {STOP_TIMEOUT_S:g} seconds.")
        time.sleep(POLL_S)
    click.echo(f"Stopped {address}.")


@click.command("clock", epilog=examples("svcnb emulator clock --advance 10m", "svcnb emulator clock --freeze"))
@click.option("--advance", metavar="SPAN", help="Move forward, for example 90s, 10m or 2d.")
@click.option("--freeze", "freeze", is_flag=True, help="Stop the clock at this moment.")
@click.option("--at", metavar="TIME", help="Stop the clock at this time: Unix seconds or ISO 8601, in UTC.")
@click.option("--real", is_flag=True, help="Follow the clock of the machine again.")
@_with_emulator
def clock(control: EmulatorControl, *, advance: str | None, freeze: bool, at: str | None, real: bool) -> None:
    """Print the emulator's time in Unix seconds, after changing it if asked to."""
    if sum((advance is not None, freeze, at is not None, real)) > 1:
        raise click.UsageError("--advance, --freeze, --at and --real exclude each other: give one.")
    try:
        if advance is not None:
            control.clock.advance(advance)
        elif freeze:
            control.clock.freeze()
        elif at is not None:
            control.clock.freeze(float(at) if at.replace(".", "", 1).isdigit() else at)
        elif real:
            control.clock.real()
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
    click.echo(f"{control.clock.now():.3f}")


@click.command("fault", epilog=examples("svcnb emulator fault chain --times 3", "svcnb emulator fault --clear"))
@click.argument("part", type=click.Choice(get_args(Part)), required=False)
@click.option("--times", type=click.IntRange(1), default=1, show_default=True, help="How many calls fail.")
@click.option("--until-cleared", is_flag=True, help="Every call fails until --clear.")
@click.option("--status", "code", type=int, help="HTTP status of the answer. Default: the part's own.")
@click.option("--delay", metavar="SPAN", help="How long each call waits first, for example 2s.")
@click.option("--clear", is_flag=True, help="End all faults.")
@_with_emulator
def fault(
    control: EmulatorControl,
    part: Part | None,
    *,
    times: int,
    until_cleared: bool,
    code: int | None,
    delay: str | None,
    clear: bool,
) -> None:
    """Make the next calls that need PART fail or wait."""
    if clear == (part is not None):
        raise click.UsageError("give a PART that fails, or --clear.")
    faults = control.faults
    if part is None:
        faults.clear()
    elif until_cleared:
        faults.until_cleared(part, status=code, delay=delay)
    else:
        faults.next(part, status=code, delay=delay, times=times)


@click.command("credit", epilog=examples("svcnb emulator credit 0x93ab... 500"))
@click.argument("wallet", metavar="WALLET")
@click.argument("cents", type=int)
@_with_emulator
def credit(control: EmulatorControl, wallet: str, cents: int) -> None:
    """Add CENTS of credit to the billing WALLET of an account, and print its credit in cents."""
    click.echo(str(control.credit(wallet, cents)))


@click.command(
    "snapshot", epilog=examples("svcnb emulator snapshot save before", "svcnb emulator snapshot restore before")
)
@click.argument("verb", type=click.Choice(["list", "save", "restore", "delete"]), metavar="[list|save|restore|delete]")
@click.argument("name", required=False)
@output_options
@_with_emulator
def snapshot(control: EmulatorControl, verb: str, name: str | None, as_json: bool) -> None:
    """Save, restore, delete or list copies of all state: database and chain together."""
    if verb == "list":
        show(control.snapshots(), as_json=as_json)
        return
    if name is None:
        raise click.UsageError(f"`snapshot {verb}` needs the NAME of a snapshot.")
    {"save": control.snapshot, "restore": control.restore, "delete": control.delete_snapshot}[verb](name)


COMMANDS = (status, stop, clock, fault, credit, snapshot)
