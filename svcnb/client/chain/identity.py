"""Lookup of an account's owner and of its master hash.

Every write needs the master hash (docs/service/contract.md#access-and-aliases). If an account was converted or
transferred, the client cannot compute the hash from the address of the admin wallet. The lookup therefore reads the
hash from the events that name the wallet as admin.
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
    """Identity of an account on chain.

    Attributes:
        master_hash: Master hash, which never changes.
        admin: Address of the wallet that owns the account, with its checksum.
    """

    master_hash: int
    admin: str


def admin_of(chain: ChainAccess, any_hash: int) -> Flow[str]:
    """Returns the address of an account's admin wallet, with checksum.

    Raises:
        ChainError: There is no account with this hash (``AccountDoesNotExist``).
    """
    return checksum_address((yield from chain.view("getAccountWalletAddress", any_hash)))


def find(chain: ChainAccess, wallet: str) -> Flow[Identity]:
    """Returns the ChainSecured account that a wallet owns.

    Args:
        chain: Access to the chain.
        wallet: Address of the admin wallet.

    Raises:
        ChainError: The wallet does not own an account, or the node does not store the event that contains the hash. The
            message states whether the wallet owned an account before.
    """
    yield from chain.require_same_chain()
    alias = wallet_lookup_key(wallet)
    try:
        admin = yield from admin_of(chain, alias)
    except ChainError as error:
        if error.name != "AccountDoesNotExist":
            raise
        raise ChainError(
            f"the wallet {wallet} does not own an account on this chain",
            name=error.name,
            arguments=error.arguments,
            hint="Create an account: svc.chain_secured.create(owner, name). Or convert an account in API mode: "
            "svc.accounts.convert(owner).",
        ) from None
    if admin != checksum_address(wallet):
        raise ChainError(
            f"the wallet {wallet} no longer owns an account, because its account now belongs to {admin}",
            name="NoAccountAccess",
            arguments=(uint256_hex(alias), wallet),
            hint="Open the account with the wallet that owns it now. A wallet that is or was an admin cannot own "
            "another account.",
        )
    return Identity((yield from _master(chain, wallet)), admin)


def _master(chain: ChainAccess, wallet: str) -> Flow[int]:
    whose = topic(wallet)
    by_second = [event_topic("AccountCreated"), event_topic("AccountConvertedToChainSecured")]
    found = yield from read_logs(chain, [by_second, None, whose])
    found += yield from read_logs(chain, [event_topic("ChainSecuredAccountOwnershipTransferred"), None, None, whose])
    for log in sorted(found, key=lambda entry: (entry.block, entry.index), reverse=True):
        if log.event == "AccountCreated" and log.args["managed"]:
            continue  # the wallet belongs to an account in API mode
        return int(log.args["masterApiKeyHash" if "masterApiKeyHash" in log.args else "apiKeyHash"])
    raise ChainError(
        f"the node returned no event that contains the account hash of the wallet {wallet}",
        hint="Pass the account hash, which is the attribute api_key_hash of the account: "
        "svc.chain_secured.open(owner, api_key_hash='0x…'). Some nodes do not store old events.",
    )
