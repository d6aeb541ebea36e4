"""Flows for ChainSecured accounts: creation, opening, conversion from API mode, transfer, and signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from svcnb.client.calls import Call, Flow, ask
from svcnb.client.chain import abi, identity
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.identity import Identity
from svcnb.client.chain.names import Names
from svcnb.client.chain.rpc import RpcError
from svcnb.client.chain.writes import Writer, gas_payer
from svcnb.client.chain_secured import mint
from svcnb.client.chain_secured.models import OnChain, Transfer
from svcnb.client.chain_secured.ownership import Ownership, signed
from svcnb.client.chain_secured.pending import PendingFolder, PendingMint
from svcnb.client.errors import ChainError, ConfigError, InvalidArgument, NotConfirmed
from svcnb.client.models.chain import ether
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.resources.reading import nothing
from svcnb.protocol.hashes import (
    api_key_hash,
    checksum_address,
    function_selector,
    parse_hex,
    uint256_hex,
    wallet_lookup_key,
)
from svcnb.protocol.typed_data import Flow as Purpose, flow_of

if TYPE_CHECKING:
    from svcnb.client.signing import SignedEnvelope, Signer
    from svcnb.client.signing.eth import AnySigner

IS_VALID_SIGNATURE: Final = function_selector("isValidSignature(bytes32,bytes)")
_WORD_BYTES: Final = 32
VALID: Final = bytes.fromhex("1626ba7e")


def create(writer: Writer, name: str, description: str) -> Flow[Identity]:
    """Creates an account that the writer's wallet owns, with one transaction, and returns the account's identity."""
    if not name.strip():
        raise InvalidArgument(
            "the account name is empty", hint='Pass a name: svc.chain_secured.create(owner, "treasury").'
        )
    owner = _owner(writer)
    yield from writer.write("newChainSecuredAccount", name, description)
    return Identity(wallet_lookup_key(owner.address), owner.address)


def open_account(writer: Writer, known_hash: str | None) -> Flow[Identity]:
    """Returns the identity of the account that the writer's wallet owns.

    If ``known_hash`` is None, the flow searches the events. Otherwise, the flow checks that the wallet owns the account
    with this hash.
    """
    chain, owner = writer.chain, _owner(writer)
    if known_hash is None:
        return (yield from identity.find(chain, owner.address))
    master = _hash_number(known_hash)
    admin = yield from identity.admin_of(chain, master)
    if admin != owner.address:
        raise ChainError(
            f"the account {known_hash} belongs to {admin}, but the signer is {owner.address}",
            name="NoAccountAccess",
            arguments=(known_hash, owner.address),
            hint="Open the account with the wallet that owns it. To only read the account, call "
            "svc.chain_secured.look(api_key_hash).",
        )
    return Identity(master, admin)


def look(chain: ChainAccess, known_hash: str) -> Flow[Identity]:
    """Finds an account by any of its hashes, without a signer, and returns the account's identity."""
    yield from chain.require_same_chain()
    number = _hash_number(known_hash)
    return Identity(number, (yield from identity.admin_of(chain, number)))


def describe(account: Ownership) -> Flow[OnChain]:
    """Reads and returns the on-chain state of the account."""
    node = yield from account.chain.node()
    names = yield from account.learn_names()
    return OnChain(
        admin=(yield from identity.admin_of(account.chain, account.master_hash)),
        billing_wallet=checksum_address((yield from account.view("getBillingWalletAddress"))),
        api_key_hash=uint256_hex(account.master_hash),
        contract_address=node.contract_address,
        chain_id=node.chain_id,
        groups=len(names.groups),
        wallets=len(names.wallets),
        actions=len(names.actions),
        usage_keys=len(names.keys),
    )


# --- conversion ---------------------------------------------------------------------------------------------------


def convert(writer: Writer, *, confirm: bool) -> Flow[Identity]:
    """Converts the configured key's account to a ChainSecured account, and returns the account's identity.

    Raises:
        NotConfirmed: ``confirm`` is not True. The error lists the consequences. The client sent no request for the
            conversion.
    """
    owner = _owner(writer)
    chain = writer.chain
    key = chain.config.api_key
    if key is None:
        raise ConfigError(
            "the conversion requires the account key, but this client has no key",
            hint="Pass the account key: svc.with_key(account.api_key).accounts.convert(owner).",
        )
    yield from chain.require_same_chain()
    master = int(api_key_hash(key.reveal()), 16)
    account = Ownership(writer, master, PendingFolder())
    admin = yield from identity.admin_of(chain, master)
    yield from _require_fresh(chain, owner.address)
    if not confirm:
        raise NotConfirmed(
            f"this call requires confirm=True, because it transfers the account to {owner.address} irreversibly",
            consequences=(yield from _conversion(account, admin, owner)),
            hint="To confirm, call svc.accounts.convert(owner, confirm=True).",
        )
    envelope = yield from signed(writer, Purpose.CONVERT_ACCOUNT)
    yield from send_conversion(envelope)
    return Identity(master, owner.address)


def send_conversion(envelope: SignedEnvelope) -> Flow[None]:
    """Sends the signed envelope of a conversion to the service."""
    body = {"new_admin_wallet_address": envelope.address, **envelope.as_request()}
    doubt = "Call svc.chain_secured.open(owner) to check whether the service converted the account."
    return ask(Call("POST", "/convert_to_chain_secured_account", nothing, body, in_doubt=doubt))


def _conversion(account: Ownership, admin: str, owner: Signer) -> Flow[tuple[str, ...]]:
    names: Names = yield from account.learn_names()
    funds = int((yield from account.chain.rpc("eth_getBalance", gas_payer(owner).address, "latest")), 16)
    return (
        f"The account {uint256_hex(account.master_hash)} (admin now: {admin}) will belong to {owner.address}.",
        "The account cannot return to API mode.",
        "The account key can no longer make changes, but can still read data and run actions.",
        f"The account keeps {_counted(names)} and the credit.",
        f"Each change is a transaction that this wallet signs and pays gas for. The wallet has {ether(funds)}.",
        "If this wallet is lost, the account is lost. The service cannot restore the account.",
    )


def _counted(names: Names) -> str:
    counts = {
        "group": len(names.groups),
        "wallet": len(names.wallets),
        "action": len(names.actions),
        "usage key": len(names.keys),
    }
    return ", ".join(f"{count} {resource}{'' if count == 1 else 's'}" for resource, count in counts.items())


# --- transfer -----------------------------------------------------------------------------------------------------


def transfer(account: Ownership, to: AnySigner | str, *, confirm: bool) -> Flow[Transfer]:
    """Transfers a ChainSecured account to another wallet, if confirmed, and returns the result.

    Raises:
        NotConfirmed: ``confirm`` is not True. The error lists the consequences. The client sent no transaction.
    """
    owner = _owner(account.writer)
    new = address_of(to)
    yield from account.chain.require_same_chain()
    if not confirm:
        yield from account.chain.view(  # report errors of the contract before requesting the confirmation
            "transferChainSecuredAccountOwnership", account.master_hash, new, sender=owner.address
        )
        code = yield from account.chain.rpc("eth_getCode", new, "latest")
        kind = "a wallet with a key" if code in ("0x", "") else "a contract"
        proof = (
            ()
            if not isinstance(to, str)
            else ("You passed only an address: make sure that the owner of the address can sign on this chain.",)
        )
        raise NotConfirmed(
            f"this call requires confirm=True, because it transfers the account to {new} irreversibly",
            consequences=(
                f"The account {uint256_hex(account.master_hash)} will belong to {new}, {kind}.",
                f"{owner.address} can no longer make changes, and only {new} can transfer the account.",
                "A wallet that is or was an admin cannot receive an account, so this transfer cannot be reversed.",
                "The account keeps its groups, wallets, actions, usage keys and credit.",
                *proof,
            ),
            hint="To confirm, call mine.transfer_ownership(new_owner, confirm=True).",
        )
    written = yield from account.write("transferChainSecuredAccountOwnership", new)
    return Transfer(
        previous_admin=owner.address,
        admin=new,
        api_key_hash=uint256_hex(account.master_hash),
        transaction_hash=written.receipt.transaction_hash,
    )


# --- interrupted creations of wallets and usage keys --------------------------------------------------------------


def resume(account: Ownership, record: PendingMint) -> Flow[Wallet | UsageKey]:
    """Resumes the interrupted creation of a wallet or a usage key, and returns the created object."""
    yield from mint.require_same_service(account, record)
    return (yield from mint.finish(account, record))


def require_confirmed(record: PendingMint, *, confirm: bool) -> None:
    """Checks that the caller has confirmed the deletion of the record of an interrupted creation.

    Raises:
        NotConfirmed: ``confirm`` is not True, and the record contains the only copy of a usage key or of a wallet's
            derivation path.
    """
    if record.stage != "asked" and not confirm:
        what = (
            f"The usage key {record.name!r} will be lost, because only this record contains the key."
            if record.kind == "usage key"
            else (
                f"The wallet {record.wallet_address} can then no longer be registered in an account, because only "
                f"this record contains its derivation path."
            )
        )
        raise NotConfirmed(
            f"this call requires confirm=True, because it irreversibly deletes the record of the {record.kind} "
            f"{record.name!r}, whose creation is not complete",
            consequences=(what, "The account keeps the entries that are already registered on chain."),
            hint=f"To finish the operation, call svc.chain_secured.resume({record.id!r}, owner). To delete the record, "
            f"call svc.chain_secured.delete_pending({record.id!r}, confirm=True).",
        )


# --- signatures ---------------------------------------------------------------------------------------------------


def sign(writer: Writer, flow: str) -> Flow[SignedEnvelope]:
    """Requests the wallet's signature of an envelope, and returns the signed envelope.

    ``flow`` is the name of the operation that the envelope authorises, for example ``CreateWallet``.
    """
    return signed(writer, flow_of(flow))


def verify(chain: ChainAccess, typed_data: dict[str, Any], signature: str, address: str) -> Flow[bool]:
    """Returns whether the private key of an address created a signature, or the contract there accepts the signature.

    Source: docs/service/signatures.md#verification.
    """
    from svcnb.client.signing import typed_data_digest, verify as made_by_key

    wanted = address_of(address)
    if made_by_key(typed_data, signature, wanted):
        return True
    raw = parse_hex(signature, what="signature")
    data = IS_VALID_SIGNATURE + abi.encode(("bytes32", "bytes"), (typed_data_digest(typed_data), raw))
    try:
        answer = yield from chain.rpc("eth_call", {"to": wanted, "data": "0x" + data.hex()}, "latest")
    except RpcError as error:
        if error.revert_data is None:
            raise
        return False
    told = bytes.fromhex(str(answer).removeprefix("0x"))
    return len(told) >= _WORD_BYTES and told.startswith(VALID)


# --- helpers ------------------------------------------------------------------------------------------------------


def _hash_number(text: str) -> int:
    try:
        return int.from_bytes(parse_hex(text, 32, "account hash"), "big")
    except InvalidArgument as error:
        raise InvalidArgument(
            error.message,
            hint='Pass the api_key_hash of an account, for example svc.accounts.create("demo").api_key_hash.',
        ) from None


def address_of(wallet: AnySigner | str) -> str:
    """Returns the address of a wallet, with checksum.

    Raises:
        InvalidArgument: The value is neither a wallet nor an address.
    """
    from svcnb.client.signing import as_signer

    try:
        return checksum_address(wallet if isinstance(wallet, str) else as_signer(wallet).address)
    except InvalidArgument as error:
        hint = "Pass a signer, or an address: 0x followed by 40 hex digits."
        raise InvalidArgument(error.message, hint=hint) from None


def _owner(writer: Writer) -> Signer:
    if writer.owner is None:
        raise InvalidArgument(
            "this operation requires a signer, but the account was opened without a signer",
            hint="Open the account with its admin wallet: svc.chain_secured.open(owner).",
        )
    return writer.owner


def _require_fresh(chain: ChainAccess, address: str) -> Flow[None]:
    """Rejects a wallet that owns or owned an account, before the wallet signs (docs/service/resources.md#states)."""
    alias = wallet_lookup_key(address)
    try:
        yield from identity.admin_of(chain, alias)
    except ChainError as error:
        if error.name == "AccountDoesNotExist":
            return
        raise
    raise ChainError(
        f"the wallet {address} cannot own a new account, because it owns or previously owned an account",
        name="AccountAlreadyExists",
        arguments=(uint256_hex(alias),),
        hint="Use a new wallet, or open the account of this wallet: svc.chain_secured.open(owner). A wallet can own "
        "only one account during its lifetime.",
    )
