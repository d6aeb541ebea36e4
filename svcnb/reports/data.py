"""Where the cells of a report get their data: from the environment, never from parameters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from svcnb.client.errors import ConfigError
from svcnb.client.stripping import strip_text

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.triggers import TriggersClient
    from svcnb.toolkit.history import History

TOKEN_FILE = "SVC_TRIGGERS_TOKEN_FILE"  # noqa: S105 - the name of a variable


def service() -> Client:
    """A client by the settings of the environment. It records no runs of its own.

    Raises:
        ConfigError: There is no address or no key.
    """
    from svcnb.client import Client

    client = Client(history=False)
    if client.config.api_key is None:
        raise ConfigError("the report reads an account and has no key", hint="Set SVC_API_KEY, or pass --key-file.")
    return client


def triggers_service() -> TriggersClient:
    """A client of the triggers service, with the token in the file that ``SVC_TRIGGERS_TOKEN_FILE`` names.

    Raises:
        ConfigError: The variable is not set, or the file cannot be read.
    """
    from svcnb.client.triggers import TriggersClient

    named = os.environ.get(TOKEN_FILE)
    hint = "`svcnb triggers authorize FILE` makes a token; then set SVC_TRIGGERS_TOKEN_FILE, or pass --token-file."
    if not named:
        raise ConfigError("the report reads triggers and has no token", hint=hint)
    try:
        token = Path(named).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"the token file cannot be read: {error.strerror}", hint=hint) from None
    return TriggersClient(token=token)


def history_of() -> History:
    """The record of past runs that ``SVC_HISTORY`` names, or the usual one.

    Raises:
        ConfigError: Recording is switched off.
    """
    from svcnb.toolkit.history import History

    return History()


def credit_cents(*, required: bool) -> int | None:
    """The account's credit in cents.

    Args:
        required: Whether the report cannot do without.

    Returns:
        None when there is no key, or no address, to ask with.

    Raises:
        ConfigError: The same, where it is required.
    """
    try:
        with service() as client:
            return client.billing.balance().available_cents
    except ConfigError:
        if required:
            raise
        return None


def stripped(text: object) -> str:
    """A text that came from elsewhere, without what looks like a secret."""
    return strip_text(str(text or ""))
