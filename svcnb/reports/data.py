"""Data access for the cells of a report. Settings come from the environment, never from parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from svcnb.checked import checked
from svcnb.client.errors import ConfigError
from svcnb.client.recorder import strip_text
from svcnb.files import MAX_TEXT_FILE_BYTES, read_text

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.triggers import TriggersClient
    from svcnb.toolkit.account_data import AccountData
    from svcnb.toolkit.history import History, PastRun

_KEY_HINT = "Set SVC_API_KEY, or pass --key-file."
_FAILURES_READ = 5_000
TOKEN_FILE = "SVC_TRIGGERS_TOKEN_FILE"  # noqa: S105 - the name of a variable


def check_settings(reads: str, environment: Mapping[str, str]) -> None:
    """Checks that the settings for a data source (``account`` or ``triggers``) exist, before the report runs.

    Raises:
        ConfigError: A setting is missing. The hint contains its name.
    """
    from svcnb.client.config import load

    if reads == "triggers":
        triggers_token(environment)
        if not (environment.get("SVC_TRIGGERS_URL") or _triggers_url(environment)):
            raise ConfigError(
                "this report requires the address of the triggers service, but the address is not set",
                hint="Set SVC_TRIGGERS_URL, or pass --triggers-url.",
            )
        return
    if load(environment=environment).api_key is None:
        raise ConfigError("this report requires an API key, but no API key is set", hint=_KEY_HINT)


def _triggers_url(environment: Mapping[str, str]) -> str | None:
    from svcnb.client.config import load

    try:
        return load(environment=environment).triggers_url
    except ConfigError:
        return None


@checked
def service(*, record: History | None = None) -> Client:
    """Returns a client with the settings of the environment.

    Args:
        record: Local history in which the client stores the balances that it reads. If None, the client does not store
            balances.

    Raises:
        ConfigError: The address or the key is missing.
    """
    from svcnb.client import Client

    client = Client(history=False if record is None else record.path)
    if client.config.api_key is None:
        raise ConfigError("this report requires an API key, but no API key is set", hint=_KEY_HINT)
    return client


@checked
def triggers_service() -> TriggersClient:
    """Returns a client of the triggers service, with the token from the file in ``SVC_TRIGGERS_TOKEN_FILE``.

    Raises:
        ConfigError: The variable is not set, or the file cannot be read.
    """
    from svcnb.client.triggers import TriggersClient

    return TriggersClient(token=triggers_token(os.environ))


def triggers_token(environment: Mapping[str, str]) -> str:
    """Returns the token of the triggers service from the file in ``SVC_TRIGGERS_TOKEN_FILE``.

    Raises:
        ConfigError: The variable is not set, or the file cannot be read.
    """
    named = environment.get(TOKEN_FILE)
    hint = (
        "To create a token, run `svcnb triggers authorize FILE`. Then set SVC_TRIGGERS_TOKEN_FILE, or pass "
        "--token-file."
    )
    if not named:
        raise ConfigError(
            f"this report requires a token of the triggers service, but {TOKEN_FILE} is not set", hint=hint
        )
    try:
        return read_text(Path(named).expanduser(), MAX_TEXT_FILE_BYTES).strip()
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except ValueError:
        problem = "is not UTF-8 text"
    raise ConfigError(f"the token file {named} (from {TOKEN_FILE}) {problem}", hint=hint)


@checked
def history_of() -> History:
    """Returns the local history of runs, from the file in ``SVC_HISTORY`` or from the default file.

    Raises:
        ConfigError: Recording is disabled.
    """
    from svcnb.toolkit.history import History

    return History()


@checked
def account_data(
    since: str, *, action: str | None = None, source: str | None = None, history: History | None = None
) -> AccountData:
    """Returns the runs and the spending of the account to which the key in the environment belongs.

    If ``SVC_TRIGGERS_TOKEN_FILE`` is set, the function also reads the runs of triggers, and requires
    ``SVC_TRIGGERS_URL``. The function also reads the runs of an emulator, with the token in
    ``SVC_CONTROL_TOKEN`` or with the token that the user's own emulator has saved.

    Args:
        since: Length of the period that ends now, for example ``"7d"``.
        action: Name or CID of an action, to select only the runs of this action. None selects all actions.
        source: ``client``, ``trigger`` or ``service``, to select only runs from this source. None selects all sources.
        history: Local history. None means the history from `history_of`.

    Raises:
        ConfigError: A setting is missing, the token file cannot be read, or recording is disabled.
    """
    from svcnb.toolkit.account_data import Period, read_account_data

    record = history or history_of()
    triggers = triggers_service() if os.environ.get(TOKEN_FILE) else None
    # The client records the balance, because the next report compares the recorded balance with the new balance.
    with service(record=record) as client:
        data = read_account_data(
            client,
            record,
            Period.back(since),
            triggers=triggers,
            control_token=os.environ.get("SVC_CONTROL_TOKEN"),
        )
    return data.only(action=action, source=source)


@checked
def failures(data: AccountData, limit: int, history: History | None = None) -> list[PastRun]:
    """Returns the newest failed runs of an account, with their errors.

    Args:
        data: Runs of the account, from `account_data`.
        limit: Maximum number of runs to return.
        history: Local history. None means the history from `history_of`.
    """
    actions, sources = (set(data.runs[name].unique()) for name in ("cid", "source"))
    found = (history or history_of()).runs(
        service=data.service,
        keys=[*data.keys, ""],
        status="failed",
        since=data.period.begin,
        until=data.period.end,
        limit=max(limit, _FAILURES_READ),
    )
    return [run for run in found if run.cid in actions and run.source in sources][:limit]


@checked
def stripped(text: object) -> str:
    """Returns a value as text, and masks everything that looks like a secret.

    For None, 0, False and empty values, the text is empty.
    """
    return strip_text(str(text or ""))
