"""Lookup of an account's owner and of its master hash.

Every write needs the master hash (reference facts 6.4). If an account was converted or transferred, the hash does not
follow from its admin wallet. It is read from the events: each contains the master hash and the wallet that became
admin.
"""

from __future__ import annotations

from dataclasses import dataclass

from svcnb.client.calls import Flow
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.events import event_topic, read_logs, topic
from svcnb.client.errors import ChainError
from svcnb.protocol.hashes import checksum_address, uint256_hex, wallet_lookup_key


@dataclass(frozen=True)
class Identity:
    """An account on chain.

    Attributes:
        master_hash: Its stable identity.
        admin: The wallet that owns it, with checksum.
    """

    master_hash: int
    admin: str


def admin_of(chain: ChainAccess, any_hash: int) -> Flow[str]:
    """Returns the admin wallet of the account with this hash, with checksum.

    Raises:
        ChainError: AccountDoesNotExist.
    """
    return checksum_address((yield from chain.view("getAccountWalletAddress", any_hash)))


def find(chain: ChainAccess, wallet: str) -> Flow[Identity]:
    """Returns the ChainSecured account that a wallet owns.

    Args:
        chain: The chain.
        wallet: The admin wallet.

    Raises:
        ChainError: It owns none; the message says whether it owned one before.
    """
    yield from chain.require_same_chain()
    alias = wallet_lookup_key(wallet)
    try:
        admin = yield from admin_of(chain, alias)
    except ChainError as error:
        if error.name != "AccountDoesNotExist":
            raise
        raise ChainError(
            f"the wallet {wallet} owns no account on this chain",
            name=error.name,
            arguments=error.arguments,
            hint="Open one with svc.chain_secured.create(owner, name), or convert one in API mode: "
            "svc.accounts.convert(owner).",
        ) from None
    if admin != checksum_address(wallet):
        raise ChainError(
            f"the wallet {wallet} owned an account that now belongs to {admin}",
            name="NoAccountAccess",
            arguments=(uint256_hex(alias), wallet),
            hint="Open it with the wallet that owns it now. A wallet that was ever admin gets no account again.",
        )
    return Identity((yield from _master(chain, wallet, alias)), admin)


def _master(chain: ChainAccess, wallet: str, alias: int) -> Flow[int]:
    whose = topic(wallet)
    by_second = [event_topic("AccountCreated"), event_topic("AccountConvertedToChainSecured")]
    found = yield from read_logs(chain, [by_second, None, whose])
    found += yield from read_logs(chain, [event_topic("ChainSecuredAccountOwnershipTransferred"), None, None, whose])
    for log in sorted(found, key=lambda entry: (entry.block, entry.index), reverse=True):
        if log.event == "AccountCreated" and log.args["managed"]:
            continue  # the account wallet of an account in API mode
        return int(log.args["masterApiKeyHash" if "masterApiKeyHash" in log.args else "apiKeyHash"])
    raise ChainError(
        f"no event of the chain tells which account {wallet} owns under the alias {uint256_hex(alias)}",
        hint="The node may not keep old logs. Name the account yourself: "
        "svc.chain_secured.open(owner, api_key_hash='0x…'), as conversion returned it.",
    )
