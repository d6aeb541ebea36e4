"""History of one account: its events, the transactions that caused them, and the state after each block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from svcnb.client.calls import Flow
from svcnb.client.chain import abi
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.events import Log, event_topic, read_logs, topic
from svcnb.client.chain.names import short
from svcnb.client.chain.rights import CAUSES, Rights
from svcnb.client.chain.rpc import RpcError
from svcnb.client.errors import ChainError, InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.client.resources import node
from svcnb.protocol.contract import AbiError, function
from svcnb.protocol.hashes import uint256_hex, wallet_lookup_key


class AuditEntry(Model):
    """One change of an account."""

    block: int
    """Number of the block that contains the transaction."""

    time: datetime
    """Time of the block, in UTC."""

    who: str
    """Sender of the transaction: the admin at that time, a wallet of the service (API payer), or another address."""

    what: str
    """Description of the change, with the names that were valid at the time."""

    event: str
    """Name of the event that the contract emitted."""

    transaction: str
    """Hash of the transaction that made the change."""

    def summary(self) -> dict[str, Any]:
        """Returns a dictionary with the block, the time, the sender and the description."""
        return {"block": self.block, "time": f"{self.time:%Y-%m-%d %H:%M:%S}", "who": self.who, "what": self.what}


class Permission(Model):
    """One permission in an account at the end of a block, or one property, for example that a wallet is registered."""

    subject: str
    """Object that has the permission or the property: the account, a wallet, a group or a usage key."""

    permission: str
    """Description of the permission or the property, for example ``permits action 'increment'``."""


class Change(Model):
    """One permission or property (see `Permission`) that was added or removed between two blocks."""

    change: str
    """``+`` for an addition, ``-`` for a removal."""

    subject: str
    """Object that has or had the permission or property: the account, a wallet, a group or a usage key."""

    permission: str
    """Description of the permission or property, for example ``permits action 'increment'``."""


@dataclass(frozen=True)
class _Transaction:
    sender: str
    to: str
    data: bytes


@dataclass(frozen=True)
class History:
    """History of one account.

    Attributes:
        logs: Events of the account, oldest first.
        transactions: The transactions that caused the events, by hash.
        times: Time of each block in Unix seconds, by the number of the block.
        contract: Address of the contract in lowercase.
        payers: Addresses of the service's payers and of its admin payer, in lowercase.
    """

    logs: Sequence[Log]
    transactions: Mapping[str, _Transaction]
    times: Mapping[int, int]
    contract: str
    payers: frozenset[str]

    def entries(self) -> Listing[AuditEntry]:
        """Returns a description of every event, oldest first."""
        found: list[AuditEntry] = []
        rights = Rights()
        for log in self.logs:
            who = self._who(log, rights)
            what = rights.apply(log, self._call(log))
            time = datetime.fromtimestamp(self.times[log.block], UTC)
            found.append(
                AuditEntry(
                    block=log.block, time=time, who=who, what=what, event=log.event, transaction=log.transaction_hash
                )
            )
        return Listing(found, of="events", kind=AuditEntry)

    def at(self, block: int | None) -> Rights:
        """Returns the account's permissions at the end of a block. None means the last block that was read."""
        rights = Rights()
        for log in self.logs:
            if block is None or log.block <= block:
                rights.apply(log, self._call(log))
        return rights

    def permissions(self) -> Listing[Permission]:
        """Returns all permissions in the account at the end of the last block that was read."""
        said = sorted(self.at(None).statements())
        return Listing(
            [Permission(subject=subject, permission=text) for subject, text in said], of="permissions", kind=Permission
        )

    def diff(self, first: int, last: int | None) -> Listing[Change]:
        """Returns the changes from the end of block ``first`` to the end of block ``last``.

        If ``last`` is None, the comparison uses the last block that was read.
        """
        before, after = self.at(first), self.at(last)
        # Both states use the latest names, so that a rename alone is not a change of permissions.
        before.names = after.names.merged(before.names)
        old, new = before.statements(), after.statements()
        gone = [Change(change="-", subject=subject, permission=said) for subject, said in sorted(old - new)]
        come = [Change(change="+", subject=subject, permission=said) for subject, said in sorted(new - old)]
        return Listing(
            sorted(gone + come, key=lambda item: (item.subject, item.change, item.permission)),
            of="changes",
            kind=Change,
        )

    def _who(self, log: Log, rights: Rights) -> str:
        sent = self.transactions[log.transaction_hash]
        admin = rights.admin.lower()
        if log.event == "AccountCreated" and not log.args["managed"]:
            admin = log.args["admin"].lower()
        if sent.sender == admin:
            return f"admin {short(admin)}"
        if sent.sender in self.payers:
            return f"API payer {short(sent.sender)}"
        if sent.to == admin:
            return f"admin {short(admin)} (contract), signed by {short(sent.sender)}"
        return short(sent.sender)

    def _call(self, log: Log) -> Mapping[str, Any] | None:
        sent = self.transactions[log.transaction_hash]
        for name in CAUSES.get(log.event, ()):
            what = function(name)
            begin = 0 if sent.to == self.contract else sent.data.find(what.selector)
            # The call data of a contract wallet contains the contract call. The extracted call must match the event.
            while begin >= 0 and sent.data[begin : begin + 4] == what.selector:
                try:
                    found = dict(zip(what.names, abi.decode(what.inputs, sent.data[begin + 4 :]), strict=True))
                except AbiError:
                    found = {}
                if found and _fits(found, log):
                    return found
                begin = sent.data.find(what.selector, begin + 1)
        return None


def read(chain: ChainAccess, master_hash: int, *, last: int | None = None) -> Flow[History]:
    """Reads and returns the history of an account.

    Args:
        chain: Access to the chain that contains the account.
        master_hash: Master hash of the account.
        last: Number of the last block to read. None means the latest block.

    Raises:
        InvalidArgument: The hash is not the master hash of an account. For example, the hash identifies a usage key.
        ChainError: The chain could not be queried, or the node does not store the complete history.
    """
    yield from chain.require_same_chain()
    logs = yield from read_logs(chain, [None, topic(master_hash)], last=last)
    if not any(log.event == "AccountCreated" for log in logs):
        yield from _require_account_hash(chain, master_hash, known=bool(logs) or last is not None)
    others = _other_hashes(logs)
    if others:
        # Some versions of the contract log the hash that the caller used. This hash can be the alias of a usage key or
        # of an admin.
        told = [event_topic(name) for name in _BY_ANY_HASH]
        known = {(log.block, log.index) for log in logs}
        more = yield from read_logs(chain, [told, [topic(value) for value in sorted(others)]], last=last)
        logs = sorted(
            [*logs, *(log for log in more if (log.block, log.index) not in known)],
            key=lambda log: (log.block, log.index),
        )
    hashes = list(dict.fromkeys(log.transaction_hash for log in logs))
    blocks = sorted({log.block for log in logs})
    answers = yield from chain.batch(
        [("eth_getTransactionByHash", (item,)) for item in hashes]
        + [("eth_getBlockByNumber", (hex(number), False)) for number in blocks]
    )
    for answer in answers:
        if isinstance(answer, RpcError):
            raise answer
        if answer is None:
            raise ChainError(
                "the chain node does not store all transactions and blocks of this account's history",
                hint="Pass the URL of a node that stores all old blocks, transactions and logs: "
                "svcnb.Client(rpc_url=url), or set SVC_RPC_URL.",
            )
    return History(
        logs=logs,
        transactions={
            item: _Transaction(
                answer["from"].lower(), str(answer["to"] or "").lower(), bytes.fromhex(answer["input"][2:])
            )
            for item, answer in zip(hashes, answers, strict=False)
        },
        times={
            number: int(answer["timestamp"], 16) for number, answer in zip(blocks, answers[len(hashes) :], strict=True)
        },
        contract=(yield from chain.node()).contract_address.lower(),
        payers=frozenset([*(yield from node.payers()), (yield from node.admin_payer())]),
    )


def _require_account_hash(chain: ChainAccess, given: int, *, known: bool) -> Flow[None]:
    """Raises an error if the hash ``given`` is not the master hash of an account.

    The hash of a usage key always causes an error. If ``known`` is False, the node has no events of an account with the
    hash ``given``, so every hash causes an error.
    """
    expected = "Pass the hash of the account key, which is the attribute api_key_hash of an account."
    keys = yield from read_logs(chain, [event_topic("UsageApiKeySet"), None, topic(given)])
    if keys:
        account = uint256_hex(keys[-1].args["accountApiKeyHash"])
        raise InvalidArgument(
            f"{uint256_hex(given)} is the hash of a usage key, but events identify accounts by the hash of the "
            "account key",
            hint=f"Pass the hash of the account to which this usage key belongs: svc.chain_secured.look({account!r}).",
        )
    if not known:
        raise InvalidArgument(
            f"the chain node has no event for an account with the hash {uint256_hex(given)}",
            hint=f"{expected} If the hash is correct, use a node that stores all old logs: svcnb.Client(rpc_url=url), "
            "or set SVC_RPC_URL.",
        )


_BY_ANY_HASH = (
    "GroupAdded",
    "GroupRemoved",
    "ActionAddedToGroup",
    "ActionRemovedFromGroup",
    "PkpAddedToGroup",
    "PkpRemovedFromGroup",
    "WalletDerivationRegistered",
)


def _other_hashes(logs: Sequence[Log]) -> set[int]:
    found = {log.args["usageApiKeyHash"] for log in logs if log.event == "UsageApiKeySet"}
    return found | {
        wallet_lookup_key(log.args["newAdminWalletAddress"]) for log in logs if "newAdminWalletAddress" in log.args
    }


def _fits(call: Mapping[str, Any], log: Log) -> bool:
    """Returns whether a call with these arguments may have caused the event."""
    shared = [
        name for name in ("groupId", "actionHash", "usageApiKeyHash", "pkpId") if name in call and name in log.args
    ]
    return all(call[name] == log.args[name] for name in shared)
