"""Creation of a wallet or a usage key in two steps (a *mint*).

First, the service creates the object. Then the owner's wallet registers the object on chain: one transaction for a
wallet, or two transactions for a usage key and its wallet. The client records every step, because the process can crash
after any step. Each step first checks whether it is already complete. A resumed mint therefore does not repeat
completed steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

from svcnb.client.calls import Answer, Call, Flow, T, act, ask
from svcnb.client.chain.identity import admin_of
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.pending import PendingMint
from svcnb.client.errors import ChainError, InvalidArgument, SvcnbError
from svcnb.client.models.usage_keys import PERMISSION_FLAGS, PERMISSION_LISTS, UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.secret import Secret
from svcnb.protocol.hashes import key_hash, uint256_hex, usage_key_bytes, usage_key_hash
from svcnb.protocol.typed_data import Flow as Purpose

if TYPE_CHECKING:
    from svcnb.client.signing import SignedEnvelope

HashForm = Literal["bytes", "text"]
"""Form of a usage key whose hash is on chain.

``bytes`` means the 32 bytes of the key, as in the specification. ``text`` means the base64 text of the key.
"""

SECRET_BYTES: Final = 32

_PATHS: Final = {
    Purpose.CREATE_WALLET: "/create_wallet_with_signature",
    Purpose.ADD_USAGE_API_KEY: "/add_usage_api_key_with_signature",
}
# The names that the service uses for these wallets in API mode (docs/service/endpoints.md#account-and-keys).
_KEY_WALLET: Final = ("API Key Wallet", "Usage API Key Wallet")


def hash_of(secret: str, form: HashForm) -> int:
    """Returns the on-chain hash of a usage key, as a number.

    Args:
        secret: Text of the key, base64 of 32 bytes.
        form: Form of the key to hash: ``bytes`` for the 32 bytes of the key, or ``text`` for its base64 text.

    Raises:
        InvalidArgument: The form is ``bytes``, but the text does not encode 32 bytes. The message does not contain the
            text.
    """
    if form == "text":
        return key_hash(secret)
    raw = usage_key_bytes(secret.strip())
    if raw is None:
        raise InvalidArgument(
            "invalid usage key of a ChainSecured account: expected base64 of 32 bytes",
            hint="Pass the UsageKey that mine.usage_keys.create() returned, or its api_key_hash from "
            "mine.usage_keys.list().",
        )
    return usage_key_hash(raw)


def begin(account: Ownership, kind: Literal["wallet", "usage key"], name: str, **arguments: Any) -> Flow[PendingMint]:
    """Writes and returns the record of a new mint. The client calls this flow before it requests the object."""
    node = yield from account.chain.node()
    begun = yield from account.chain.time()
    return (
        yield from act(
            lambda: account.records.begin(
                kind=kind,
                name=name,
                owner=account.address,
                api_key_hash=uint256_hex(account.master_hash),
                base_url=account.chain.config.base_url,
                chain_id=node.chain_id,
                contract_address=node.contract_address.lower(),
                begun=begun,
                arguments=arguments,
            )
        )
    )


def finish(account: Ownership, record: PendingMint, *, keep: bool = False) -> Flow[Wallet | UsageKey]:
    """Performs the remaining steps of a mint, from any stage, and returns the created wallet or usage key.

    Afterwards, the flow deletes the record, unless ``keep`` is True.

    Raises:
        SvcnbError: A step failed. If the service has confirmed the creation of the object, the record keeps all data,
            and a note on the error describes how to continue. Otherwise, the flow deletes the record.
    """
    steps = _Steps(account, record)
    try:
        yield from steps.make()
        if record.kind == "wallet":
            yield from steps.register(record.name, str(record.arguments.get("description", "")))
            result: Wallet | UsageKey = steps.wallet()
        else:
            yield from steps.register(*_KEY_WALLET)
            yield from steps.set_key()
            result = steps.key()
    except SvcnbError as error:
        if steps.record.stage == "asked":
            # The service may have created an object. The object is unusable, because it is not in any account and has
            # no permissions.
            yield from act(lambda: account.records.delete(record))
        else:
            error.add_note(
                f"The service created the {record.kind} {record.name!r}, but the registration on chain is not "
                f"complete. Correct the cause, then finish the registration: svc.chain_secured.resume({record.id!r}, "
                f"owner). Or delete the local record: svc.chain_secured.delete_pending({record.id!r}, confirm=True)."
            )
        raise
    if not keep:
        yield from act(lambda: account.records.delete(record))
    return result


def send_creation(envelope: SignedEnvelope, parse: Callable[[Any, Answer], T], again: str) -> Flow[T]:
    """Sends the signed envelope for a new wallet or usage key, and returns the parsed response.

    If no response arrives, the hint of the error starts with ``again``, for example ``Sign again.``
    """
    doubt = (
        f"{again} The service may have created a wallet or key, which is not part of any account and has no "
        "permissions."
    )
    return ask(Call("POST", _PATHS[envelope.flow], parse, envelope.as_request(), key=False, in_doubt=doubt))


class _Steps:
    """Steps that create one wallet or usage key, and the record of these steps on disk."""

    def __init__(self, account: Ownership, record: PendingMint) -> None:
        self.account = account
        self.record = record

    def make(self) -> Flow[None]:
        """Requests the wallet or the key from the service, and immediately saves the response.

        If the stage of the record is not ``asked``, the service has already created the object, and the method does
        nothing.
        """
        if self.record.stage != "asked":
            return
        purpose = Purpose.CREATE_WALLET if self.record.kind == "wallet" else Purpose.ADD_USAGE_API_KEY
        envelope = yield from self.account.signed(purpose)

        def parse(body: Any, _answer: Answer) -> dict[str, Any]:
            known = {"wallet_address": str(body["wallet_address"]).lower(), "derivation_path": body["derivation_path"]}
            if int(known["derivation_path"], 16) <= 0:
                raise ValueError(f"the derivation path is {known['derivation_path'][:80]}: expected a positive number")
            secret = None if self.record.kind == "wallet" else Secret(body["usage_api_key"])
            return {"stage": "minted", "secret": secret, **known}

        made = yield from send_creation(envelope, parse, "Start again.")
        yield from self._advance(**made)

    def register(self, name: str, description: str) -> Flow[None]:
        """Registers the new wallet, or the wallet of the new usage key, on chain, unless it is already registered."""
        address, path = self.record.wallet_address, int(self.record.derivation_path, 16)
        if (yield from self.account.view("getWalletDerivation", address)) == 0:
            yield from self._advance(stage="registering")
            yield from self.account.write(
                "registerWalletDerivation", address, path, name, description, on_sent=self._sent
            )
        yield from self._advance(stage="registered")

    def set_key(self) -> Flow[None]:
        """Registers the usage key on chain, unless the key is already registered."""
        hashed = self.hashed()
        known = yield from self.account.every("listApiKeys")
        if all(entry[1] != hashed for entry in known):
            yield from self._advance(stage="setting")
            arguments = self.record.arguments
            yield from self.account.write(
                "setUsageApiKey",
                hashed,
                arguments["expiration"],
                0,
                self.record.name,
                arguments["description"],
                *permission_arguments(arguments["permissions"]),
                on_sent=self._sent,
            )

    def _advance(self, **changes: Any) -> Flow[None]:
        yield from act(lambda: self._record(**changes))

    def _sent(self, transaction_hash: str) -> None:
        self._record(transaction_hash=transaction_hash)

    def _record(self, **changes: Any) -> None:
        self.record = self.record.model_copy(update=changes)
        self.account.records.write(self.record)

    def hashed(self) -> int:
        assert self.record.secret is not None  # noqa: S101 - this step is only for keys, and follows their creation
        return hash_of(self.record.secret.reveal(), self.record.arguments["form"])

    def wallet(self) -> Wallet:
        return Wallet(
            wallet_address=self.record.wallet_address,
            name=self.record.name,
            description=str(self.record.arguments.get("description", "")),
        )

    def key(self) -> UsageKey:
        arguments = self.record.arguments
        return UsageKey(
            api_key_hash=uint256_hex(self.hashed()),
            name=self.record.name,
            description=arguments["description"],
            expiration=arguments["expiration"],
            usage_api_key=self.record.secret,
            **arguments["permissions"],
        )


def permission_arguments(permissions: dict[str, Any]) -> tuple[Any, ...]:
    """Returns a key's permissions in the order of setUsageApiKey's arguments (docs/service/contract.md#writes)."""
    return tuple(permissions[name] for name in (*PERMISSION_FLAGS, *PERMISSION_LISTS))


def require_same_service(account: Ownership, record: PendingMint) -> Flow[None]:
    """Checks that a mint was started with this service, and that the signer currently owns the account.

    Raises:
        InvalidArgument: The record belongs to another service, chain or contract.
        ChainError: The signer does not own the account.
    """
    node = yield from account.chain.node()
    here = (account.chain.config.base_url, node.chain_id, node.contract_address.lower())
    if record.base_url != here[0]:
        raise InvalidArgument(
            f"the creation of the {record.kind} {record.name!r} was started with the service {record.base_url}, but "
            f"this client uses {here[0]}",
            hint=f"Resume the creation with a client of the first service: svcnb.Client({record.base_url!r}).",
        )
    if (record.chain_id, record.contract_address) != here[1:]:
        raise InvalidArgument(
            f"the creation of the {record.kind} {record.name!r} was started on chain {record.chain_id} with the "
            f"contract {record.contract_address}, but the service now uses chain {here[1]} and the contract {here[2]}",
            hint="Delete the record, because no client can finish this creation with the new chain or contract: "
            f"svc.chain_secured.delete_pending({record.id!r}, confirm=True). Then create a new {record.kind}.",
        )
    admin = yield from admin_of(account.chain, account.master_hash)
    if admin != account.address:
        raise ChainError(
            f"the account belongs to {admin}, but the signer of this operation is {account.address}",
            name="NoAccountAccess",
            arguments=(record.api_key_hash, account.address),
            hint="Resume the operation with the wallet that owns the account now.",
        )
