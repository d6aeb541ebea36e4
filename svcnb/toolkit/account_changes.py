"""Changes to an account in a period, read from the events on the chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from svcnb.client.chain.history import AuditEntry
from svcnb.client.errors import ConfigError, SvcnbError
from svcnb.client.listing import Listing
from svcnb.protocol.hashes import api_key_hash

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.models.usage_keys import UsageKey
    from svcnb.toolkit.account_data import Period


class Changes(NamedTuple):
    """Changes to an account in a period, with the reasons for missing events."""

    entries: Listing[AuditEntry]
    """Events on the chain that changed the account in the period, oldest first."""

    not_visible: tuple[str, ...] = ()
    """Reasons why some events are not available, one sentence each."""


def read_changes(client: Client, usage_keys: Sequence[UsageKey], period: Period) -> Changes:
    """Returns the account's events in a period, read from a node of the chain. All requests are free.

    Args:
        client: Client of the service, with the account key.
        usage_keys: The account's usage keys. If the client uses one of these keys, the function does not read events.
            The contract identifies an account by the hash of its account key, so a usage key is not sufficient.
        period: Period of the events.

    Raises:
        ConfigError: The client has no key.
    """
    if client.config.api_key is None:
        raise ConfigError("the API key is missing", hint="Set SVC_API_KEY, or pass --key-file.")
    nothing: Listing[AuditEntry] = Listing([], of="events", kind=AuditEntry)
    own = api_key_hash(client.config.api_key.reveal())
    if own in {key.api_key_hash for key in usage_keys}:
        text = "Changes on the chain were not read, because a usage key cannot read these changes: use the account key."
        return Changes(nothing, (text,))
    try:
        events = client.chain_secured.look(own).audit()
    except SvcnbError as error:
        return Changes(nothing, (f"Changes on the chain could not be read: {error.message.removesuffix('.')}.",))
    return Changes(
        Listing((each for each in events if period.begin <= each.time < period.end), of="events", kind=AuditEntry)
    )
