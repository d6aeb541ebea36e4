"""Check of the configured key."""

from __future__ import annotations

from svcnb.client.client import Client
from svcnb.client.errors import Unauthorized


def is_key_valid(client: Client) -> bool:
    """Returns whether the client's key belongs to an account. The check sends one free request.

    Unlike ``accounts.exists``, this function also accepts usage keys of ChainSecured accounts, because every key can
    read the groups of its account.

    Args:
        client: Client with a key.
    """
    try:
        next(client.groups.iter(), None)
    except Unauthorized:
        return False
    return True
