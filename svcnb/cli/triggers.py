"""Command ``svcnb triggers``, which manages triggers and their runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import CommandGroup, examples, output_options, quiet, show
from svcnb.cli._parameters import FiniteNumber
from svcnb.cli._service import profile_option, read_secret, read_source, triggers_url_option, with_service
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.resources.trigger_options import TriggerKind
    from svcnb.client.triggers import TriggersClient

_KINDS = ("webhook", "schedule", "chain_event")


def _with_triggers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that passes a client of the triggers service to a command, and adds the option ``--profile``."""
    return profile_option(_with_token(function))


def _with_token(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds ``--triggers-url`` and ``--token-file``, and passes a client of the triggers service.

    No option accepts the token itself, because the process list would show the token to all users of the machine.
    """

    @triggers_url_option
    @click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        envvar="SVC_TRIGGERS_TOKEN_FILE",
        help="File that contains the approved token. Default: SVC_TRIGGERS_TOKEN_FILE.",
    )
    @wraps(function)
    def command(*given: Any, triggers_url: str | None, token_file: Path | None, **options: Any) -> Any:
        if token_file is None:
            raise click.UsageError(
                "the token of the triggers service is missing. To create a token and get it approved, run `svcnb "
                "triggers authorize FILE`. Then pass --token-file FILE, or set SVC_TRIGGERS_TOKEN_FILE."
            )
        with _client(triggers_url, read_secret(token_file)) as triggers:
            return function(*given, triggers, **options)

    return command


def _client(url: str | None, token: str | None) -> TriggersClient:
    from svcnb.client.triggers import TriggersClient

    return TriggersClient(url, token=token)


@click.group("triggers", cls=CommandGroup)
def command() -> None:
    """Manage triggers, which run actions automatically.

    TRIGGER is the id that `list` shows.
    """


@command.command("authorize", epilog=examples("svcnb triggers authorize triggers.token"))
@click.argument("token_file", type=click.Path(dir_okay=False, path_type=Path))
@triggers_url_option
@click.option(
    "--timeout", type=FiniteNumber(0), default=600.0, show_default=True, help="Seconds to wait for the approval."
)
@click.option("--no-browser", is_flag=True, help="Print the address of the page instead of opening the page.")
@profile_option
def authorize(token_file: Path, triggers_url: str | None, timeout: float, no_browser: bool) -> None:
    """Create a token, store it in TOKEN_FILE, and wait until a user approves it in a browser.

    If the file already contains a token, the command uses that token.
    """
    known = read_secret(token_file) if token_file.exists() and token_file.stat().st_size else None
    with _client(triggers_url, known) as triggers:
        if known is None:
            # Write the file before the approval, so that an approved token is never lost. No other user can read the
            # file.
            token_file.touch(mode=0o600)
            token_file.chmod(0o600)
            token_file.write_text(triggers.token.reveal() + "\n", encoding="utf-8")

        def tell(url: str) -> None:
            click.echo(f"Approve at: {url}", err=True)

        user = triggers.authorize(timeout=timeout, open_page=tell if no_browser else None)
        click.echo(f"Approved by {user.email}.")


@command.command("list")
@output_options
@_with_triggers
def list_(triggers: TriggersClient, as_json: bool) -> None:
    """List your triggers, newest first."""
    found = triggers.list()
    lines = [
        {"id": each.id, "kind": each.kind, "on": "on" if each.enabled else "off", "name": each.name} for each in found
    ]
    show(found if as_json else lines, as_json=as_json)


@command.command("show")
@click.argument("trigger")
@output_options
@_with_triggers
def show_(triggers: TriggersClient, trigger: str, as_json: bool) -> None:
    """Show the settings of a trigger, without its usage key."""
    show(triggers.get(trigger), as_json=as_json)


@command.command(
    "create",
    epilog=examples(
        "svcnb triggers create orders action.js",
        "svcnb triggers create hourly action.js --kind schedule --cron '0 * * * *'",
    ),
)
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--kind", type=click.Choice(_KINDS), default="webhook", show_default=True, help="Kind of event that starts a run."
)
@click.option(
    "--cron", help="Cron expression of a schedule, in UTC: five fields, or six fields if the first contains seconds."
)
@click.option("--config", help="Settings for this kind of trigger, as JSON; an alternative to --cron.")
@click.option("--params", default="{}", help="Default parameters of every run, as JSON.")
@click.option("--wallet", "wallets", multiple=True, help="Address of a wallet that the action can use; repeatable.")
@output_options
@with_service
@_with_token
def create(
    service: Client,
    triggers: TriggersClient,
    name: str,
    file: Path,
    kind: TriggerKind,
    cron: str | None,
    config: str | None,
    params: str,
    wallets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a trigger that runs the action in FILE, with its own group and its own execute-only key.

    The command needs the account key. It costs two cents, plus one cent for each wallet beyond the first ten.
    """
    if cron is not None and kind != "schedule":
        raise click.UsageError(
            f"--cron needs --kind schedule, but the kind is {kind}. Pass --kind schedule, or omit --cron."
        )
    if cron is not None and config is not None:
        raise click.UsageError("--cron and --config are mutually exclusive: pass only one of them")
    settings = {"cron": cron} if cron is not None else _parsed(config or "{}", "--config")
    made = triggers.create_for(
        service,
        read_source(file),
        name=name,
        kind=kind,
        config=settings,
        wallets=list(wallets),
        default_params=_parsed(params, "--params"),
    )
    show(made if as_json else {"id": made.id}, as_json=as_json)
    if made.kind == "webhook" and not as_json and not quiet():
        show({"url": triggers.webhook_url(made)}, as_json=False)


@command.command("enable")
@click.argument("trigger")
@_with_triggers
def enable(triggers: TriggersClient, trigger: str) -> None:
    """Enable a trigger, so that its events start runs again, and queued runs start."""
    triggers.enable(trigger)


@command.command("disable")
@click.argument("trigger")
@_with_triggers
def disable(triggers: TriggersClient, trigger: str) -> None:
    """Disable a trigger. Its events then start no runs, and queued runs stay queued."""
    triggers.disable(trigger)


@command.command("delete")
@click.argument("trigger")
@_with_triggers
def delete(triggers: TriggersClient, trigger: str) -> None:
    """Delete a trigger and its runs."""
    triggers.delete(trigger)


@command.command("runs")
@click.argument("trigger")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Maximum number of runs, newest first."
)
@output_options
@_with_triggers
def runs(triggers: TriggersClient, trigger: str, limit: int, as_json: bool) -> None:
    """List a trigger's runs, newest first."""
    found = triggers.runs(trigger, limit=limit)
    lines = [{"id": run.id, "status": run.status, "attempt": run.attempt, "error": run.error} for run in found]
    show(found if as_json else lines, as_json=as_json)


@command.command("cron", epilog=examples("svcnb triggers cron '0 9 * * 1-5' --count 3"))
@click.argument("cron")
@click.option(
    "--count",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Number of scheduled times to show.",
)
@output_options
def cron_(cron: str, count: int, as_json: bool) -> None:
    """Show the next times at which the schedule CRON starts a run. The command sends no request."""
    from svcnb.client.triggers import TriggersClient

    preview = TriggersClient.cron(cron, count=count)
    times = [f"{tick:%Y-%m-%d %H:%M:%S}" for tick in preview.times]
    show(times if quiet() else preview, as_json=as_json, text="\n".join([preview.sentence, *times]))


@command.command("event", epilog=examples("svcnb triggers event 'Transfer(address,address,uint256)'"))
@click.argument("signature")
@output_options
def event(signature: str, as_json: bool) -> None:
    """Show the topic, the arguments and the warnings of the event with this SIGNATURE. The command sends no request."""
    from svcnb.client.triggers import TriggersClient

    show(TriggersClient.event(signature), as_json=as_json)


def _parsed(text: str, option: str) -> dict[str, Any]:
    try:
        value = parse(text)
    except ValueError as error:
        raise click.BadParameter(
            f"invalid JSON ({error}). Write, for example, '{{\"n\": 1}}'.", param_hint=option
        ) from None
    if not isinstance(value, dict):
        from svcnb.protocol.wire.rejections import shown

        raise click.BadParameter(
            f"expected a JSON object, got {shown(value)}. Write, for example, '{{\"n\": 1}}'.",
            param_hint=option,
        )
    return value
