"""On-chain account and its owner: the object that all resources of the account share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from svcnb.client.calls import Flow, act
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.names import Names
from svcnb.client.chain.writes import Writer, Written
from svcnb.client.chain_secured.pending import PendingFolder
from svcnb.client.models.chain import Receipt
from svcnb.client.resources.reading import PAGE_SIZE, Pages
from svcnb.protocol.typed_data import Flow as Purpose

if TYPE_CHECKING:
    from svcnb.client.signing import SignedEnvelope


@dataclass
class Ownership:
    """On-chain account, with the writer for its changes.

    Attributes:
        writer: Writer with the owner's wallet, or without a wallet if the account is open only for reading.
        master_hash: Master hash of the account.
        records: Store of the records of interrupted creations (`svcnb.client.chain_secured.pending`).
    """

    writer: Writer
    master_hash: int
    records: PendingFolder

    @property
    def chain(self) -> ChainAccess:
        """Access of the writer to the chain."""
        return self.writer.chain

    @property
    def address(self) -> str:
        """Address of the writer's wallet, or an empty string if the account is open only for reading."""
        return self.writer.owner.address if self.writer.owner is not None else ""

    def write(self, name: str, *arguments: Any, on_sent: Any = None) -> Flow[Written]:
        """Calls a function of the contract with a transaction, and returns the result and the receipt.

        The method passes the master hash as the first argument, before ``arguments``.
        """
        yield from self.learn_names()
        try:
            return (yield from self.writer.write(name, self.master_hash, *arguments, on_sent=on_sent))
        finally:
            self._stale = True

    def change(self, name: str, *arguments: Any) -> Flow[Receipt]:
        """Calls a function of the contract with a transaction, and returns the receipt; see `write`."""
        return (yield from self.write(name, *arguments)).receipt

    def view(self, name: str, *arguments: Any) -> Flow[Any]:
        """Calls a view function of the contract with the account's master hash, and returns the result."""
        return self.chain.view(name, self.master_hash, *arguments)

    def every(self, name: str, *arguments: Any) -> Flow[list[Any]]:
        """Reads all pages of a view function's list, and returns the entries."""
        found: list[Any] = []
        pages = Pages[Any](repr)
        while pages.more:
            found += pages.take((yield from self.view(name, *arguments, pages.number, PAGE_SIZE)))
        return found

    _stale: bool = True

    def learn_names(self) -> Flow[Names]:
        """Returns the names of the account's objects. The flow reads the names again if they may have changed."""
        names = self.writer.names
        if self._stale:
            names.groups = {number: name for number, name, _ in (yield from self.every("listGroups"))}
            names.actions = {hashed: name for hashed, name, _ in (yield from self.every("listActions"))}
            names.wallets = {address: name for _, address, name, _ in (yield from self.every("listPkps"))}
            names.keys = {entry[1]: entry[0][1] for entry in (yield from self.every("listApiKeys"))}
            self._stale = False
        return names

    def signed(self, purpose: Purpose) -> Flow[SignedEnvelope]:
        """Requests the owner's signature of an envelope with the service's current time, and returns the envelope."""
        return signed(self.writer, purpose)


def signed(writer: Writer, purpose: Purpose) -> Flow[SignedEnvelope]:
    """Requests the wallet's signature of an envelope with the service's current time, and returns the signed envelope.

    Raises:
        SigningError: The wallet did not sign.
    """
    from svcnb.client.signing import sign_flow, sign_flow_async

    owner = writer.require_owner()
    chain_id = (yield from writer.chain.node()).chain_id
    issued_at = yield from writer.chain.time()
    words = writer.chain.config.vocabulary
    return (
        yield from act(
            lambda: sign_flow(owner, purpose, chain_id, issued_at, vocabulary=words),
            lambda: sign_flow_async(owner, purpose, chain_id, issued_at, vocabulary=words),
        )
    )
