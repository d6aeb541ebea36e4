"""``svcnb emulator status`` and related commands, which control an emulator in another terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

import click

from svcnb import control_tokens
from svcnb.cli._output import examples, output_options, show
from svcnb.cli._service import profile_option
from svcnb.control.faults import Part

if TYPE_CHECKING:
    from svcnb.control import EmulatorControl

STOP_TIMEOUT_S = 30.0
POLL_S = 0.05


_url_option = click.option(
    "--url",
    help="Address of the emulator. Default: the address in the profile or in SVC_BASE_URL, otherwise the only running "
    "emulator.",
)


def _with_emulator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds ``--url`` and ``--profile``, and passes an `EmulatorControl` as the first argument."""

    @_url_option
    @profile_option
    @wraps(function)
    def command(*given: Any, url: str | None, **options: Any) -> Any:
        return function(*given, _control(_address(url)), **options)

    return command


def _chosen(url: str | None) -> str | None:
    """Returns the address from the option, the profile or the environment, or None if none of them is set.

    The function ignores the address at the top of the configuration file, which usually belongs to a live service.
    """
    if url is None and os.environ.get("SVC_PROFILE", "").strip():
        from svcnb.client.config import address

        return address()
    from svcnb.client.config import clean_url

    chosen = url or os.environ.get("SVC_BASE_URL", "").strip()
    return clean_url(chosen, "--url" if url else "SVC_BASE_URL") if chosen else None


def _address(url: str | None) -> str:
    """Returns the address that `_chosen` returns, or the address of the only running emulator.

    Without a chosen address, raises an error if no emulator or more than one emulator is running.
    """
    if (chosen := _chosen(url)) is not None:
        return chosen
    found = control_tokens.running()
    if not found:
        from svcnb.control import EmulatorUnreachable

        raise EmulatorUnreachable(
            "no running emulator was found",
            hint="To start an emulator, run `svcnb emulator`. This command finds only emulators that this user started "
            "on this machine without --control-token. To control another emulator, pass --url, and set "
            "SVC_CONTROL_TOKEN to its control token.",
        )
    if len(found) > 1:
        addresses = ", ".join(each.base_url for each in found)
        raise click.UsageError(
            f"several emulators are running ({addresses}): choose one of these addresses with --url or SVC_BASE_URL"
        )
    return found[0].base_url


def _control(address: str) -> EmulatorControl:
    from svcnb.launch import Emulator

    return Emulator.connect(address, control_token=os.environ.get("SVC_CONTROL_TOKEN"))


def _pid(address: str) -> int | None:
    """Returns the process id of the emulator at an address.

    Returns None if this user runs no emulator at this address on this machine. Also returns None if the user set the
    control token of the emulator.
    """
    port = urlsplit(address).port
    if not port or control_tokens.find(address) is None:
        return None
    return next((each.pid for each in control_tokens.running() if urlsplit(each.base_url).port == port), None)


@click.command("status")
@click.option(
    "--url",
    help="Address of the emulator. Default: the address in the profile or in SVC_BASE_URL, otherwise all running "
    "emulators.",
)
@click.option("--all", "every", is_flag=True, help="List all running emulators, even if an address is set.")
@profile_option
@output_options
def status(url: str | None, every: bool, as_json: bool) -> None:
    """List the running emulators, with the time, the engine, and the numbers of faults and snapshots of each."""
    shown = None if every else _chosen(url)
    addresses = [each.base_url for each in control_tokens.running()] if shown is None else [shown]
    rows = []
    for address in addresses:
        state = _control(address).state()
        row: dict[str, Any] = {"address": address, "pid": _pid(address), "now": state["clock"]["now"]}
        rows.append(row | ({"state": state} if as_json else _brief(state)))
    show(rows, as_json=as_json, columns=("address", "pid", "now", "state"))


def _brief(state: dict[str, Any]) -> dict[str, Any]:
    counted = {name: len(state[name]) for name in ("faults", "snapshots")}
    return {"now": f"{state['clock']['now']:.3f}", "engine": state["engine"]["name"], **counted}


@click.command("stop")
@_url_option
@profile_option
def stop(url: str | None) -> None:
    """Stop an emulator on this machine, and wait until it has stopped."""
    import signal

    address = _address(url)
    pid = _pid(address)
    if pid is None:
        raise click.ClickException(
            f"the process of an emulator at {address} was not found. This command stops only emulators that this user "
            "started on this machine, without --control-token and SVC_CONTROL_TOKEN. To stop another emulator, press "
            "Ctrl-C in its terminal."
        )
    _control(address).state()  # do not signal another process that now has the id of an ended emulator
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_TIMEOUT_S
    while any(each.pid == pid for each in control_tokens.running()):
        if time.monotonic() > until:
            raise click.ClickException(
                f"the emulator (process {pid}) did not stop within {STOP_TIMEOUT_S:g} "
                f"seconds. Stop the process with `kill -9 {pid}`."
            )
        time.sleep(POLL_S)
    click.echo(f"Stopped {address}.")


@click.command("clock", epilog=examples("svcnb emulator clock --advance 10m", "svcnb emulator clock --freeze"))
@click.option("--advance", metavar="SPAN", help="Move the clock forward by this duration, for example 90s, 10m or 2d.")
@click.option("--freeze", "freeze", is_flag=True, help="Stop the clock now.")
@click.option(
    "--at",
    metavar="TIME",
    help="Set the clock to this time (Unix seconds or ISO 8601), and stop the clock. Default time zone: UTC.",
)
@click.option("--real", is_flag=True, help="Use the clock of the machine again.")
@output_options
@_with_emulator
def clock(
    control: EmulatorControl, *, advance: str | None, freeze: bool, at: str | None, real: bool, as_json: bool
) -> None:
    """Print the emulator's time in Unix seconds.

    With --advance, --freeze, --at or --real, the command first changes the clock.
    """
    if sum((advance is not None, freeze, at is not None, real)) > 1:
        raise click.UsageError("--advance, --freeze, --at and --real are mutually exclusive: pass only one of them")
    try:
        if advance is not None:
            control.clock.advance(advance)
        elif freeze:
            control.clock.freeze()
        elif at is not None:
            control.clock.freeze(float(at) if at.replace(".", "", 1).isdecimal() else at)
        elif real:
            control.clock.real()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    now = control.clock.now()
    show({"now": now} if as_json else f"{now:.3f}", as_json=as_json)


@click.command("fault", epilog=examples("svcnb emulator fault chain --times 3", "svcnb emulator fault --clear"))
@click.argument("part", type=click.Choice(get_args(Part)), required=False)
@click.option("--times", type=click.IntRange(1), help="Number of affected calls. Default: 1.")
@click.option("--until-cleared", is_flag=True, help="Affect every call until you run this command with --clear.")
@click.option(
    "--status",
    "code",
    type=click.IntRange(400, 599),
    help="HTTP status of the response. Default: 429 for cpu, and 503 for the other parts. With --delay, the default is "
    "the normal response after the delay.",
)
@click.option("--delay", metavar="SPAN", help="Delay of each call, for example 2s.")
@click.option("--clear", is_flag=True, help="Remove all faults.")
@output_options
@_with_emulator
def fault(
    control: EmulatorControl,
    part: Part | None,
    *,
    times: int | None,
    until_cleared: bool,
    code: int | None,
    delay: str | None,
    clear: bool,
    as_json: bool,
) -> None:
    """Make the next calls that need PART fail or wait. Without PART, list the faults."""
    if clear and part is not None:
        raise click.UsageError("--clear removes all faults and cannot be combined with PART: omit --clear or PART")
    if until_cleared and times is not None:
        raise click.UsageError("--times and --until-cleared are mutually exclusive: pass only one of them")
    if part is None and (times is not None or until_cleared or code is not None or delay is not None):
        raise click.UsageError("PART is missing: run, for example, `svcnb emulator fault chain --times 3`")
    faults = control.faults
    if clear:
        faults.clear()
    elif part is None:
        show(control.state()["faults"], as_json=as_json, columns=("part", "status", "delay_ms", "times"))
    elif until_cleared:
        faults.until_cleared(part, status=code, delay=delay)
    else:
        faults.next(part, status=code, delay=delay, times=times or 1)


@click.command("faucet", epilog=examples("svcnb emulator faucet 0x93ab..."))
@click.argument("address", metavar="ADDRESS")
@click.option("--wei", type=click.IntRange(1), help="Amount in wei. Default: ten ETH.")
@output_options
@_with_emulator
def faucet(control: EmulatorControl, address: str, wei: int | None, *, as_json: bool) -> None:
    """Add ETH to the wallet at ADDRESS on the emulator's chain, and print the added amount in wei."""
    added = control.faucet(address, wei)
    show({"wei": str(added)} if as_json else added, as_json=as_json)


@click.command("credit", epilog=examples("svcnb emulator credit 0x93ab... 500"))
@click.argument("wallet", metavar="WALLET")
@click.argument("cents", type=int)
@output_options
@_with_emulator
def credit(control: EmulatorControl, wallet: str, cents: int, as_json: bool) -> None:
    """Add CENTS of credit to the account with the billing wallet WALLET, and print the new credit in cents."""
    total = control.credit(wallet, cents)
    show({"credit_cents": total} if as_json else total, as_json=as_json)


@click.command(
    "snapshot", epilog=examples("svcnb emulator snapshot save before", "svcnb emulator snapshot restore before")
)
@click.argument("verb", type=click.Choice(["list", "save", "restore", "delete"]), metavar="[list|save|restore|delete]")
@click.argument("name", required=False)
@output_options
@_with_emulator
def snapshot(control: EmulatorControl, verb: str, name: str | None, as_json: bool) -> None:
    """Save, restore, delete or list snapshots of the complete state (the database, the chain and the clock)."""
    if verb == "list":
        if name is not None:
            raise click.UsageError(f"`svcnb emulator snapshot list` has no argument: omit {name!r}")
        show(control.snapshots(), as_json=as_json, columns=("name", "taken_at"))
        return
    if name is None:
        raise click.UsageError(
            f"the name of the snapshot is missing: run, for example, `svcnb emulator snapshot {verb} before`"
        )
    {"save": control.snapshot, "restore": control.restore, "delete": control.delete_snapshot}[verb](name)


COMMANDS = (status, stop, clock, fault, faucet, credit, snapshot)
