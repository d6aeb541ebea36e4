"""A real multi-signature wallet owns an account. Its contracts come unchanged from the npm package of Safe."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from eth_account import Account as EthAccount

from svcnb import BadRequest, ChainError, ContractWallet, LocalSigner, tools
from svcnb.protocol.eip712 import digest_parts

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ZERO = "0x" + "00" * 20


def artifact(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tools.safe_artifacts() / path).read_text("utf-8"))
    return found


def signatures(owners: list[LocalSigner], typed: dict[str, Any]) -> str:
    """Returns the signatures of all owners in the order of their addresses, as the wallet requires."""
    ordered = sorted(owners, key=lambda owner: int(owner.address, 16))
    made = [EthAccount.sign_typed_data(owner.reveal(), full_message=typed).signature for owner in ordered]
    return "0x" + b"".join(bytes(item) for item in made).hex()


def typed(
    chain_id: int, wallet: str, name: str, fields: list[tuple[str, str]], message: dict[str, Any]
) -> dict[str, Any]:
    return {
        "types": {
            "EIP712Domain": [
                {"name": "chainId", "type": "uint256"},
                {"name": "verifyingContract", "type": "address"},
            ],
            name: [{"name": field, "type": kind} for field, kind in fields],
        },
        "primaryType": name,
        "domain": {"chainId": chain_id, "verifyingContract": wallet},
        "message": message,
    }


TRANSACTION = [
    ("to", "address"),
    ("value", "uint256"),
    ("data", "bytes"),
    ("operation", "uint8"),
    ("safeTxGas", "uint256"),
    ("baseGas", "uint256"),
    ("gasPrice", "uint256"),
    ("gasToken", "address"),
    ("refundReceiver", "address"),
    ("nonce", "uint256"),
]


class MultiSignatureWallet(ContractWallet):
    """Wallet with several owners, of whom a minimum number must sign. Any wallet can send their transactions."""

    def __init__(
        self, address: str, owners: list[LocalSigner], carrier: LocalSigner, contract: Any, chain_id: int
    ) -> None:
        super().__init__(address, carrier)
        self.owners = owners
        self.contract = contract
        self.chain_id = chain_id

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        digest = digest_parts(typed_data).digest
        wrapped = typed(self.chain_id, self.address, "SafeMessage", [("message", "bytes")], {"message": digest})
        return signatures(self.owners, wrapped)

    def execution(self, target: str, data: bytes, view: Any) -> Any:
        nonce = yield from view(self.address, bytes.fromhex(self.contract.encode_abi("nonce", [])[2:]))
        message = {
            "to": target,
            "value": 0,
            "data": data,
            "operation": 0,
            "safeTxGas": 0,
            "baseGas": 0,
            "gasPrice": 0,
            "gasToken": ZERO,
            "refundReceiver": ZERO,
            "nonce": int.from_bytes(nonce, "big"),
        }
        signed = signatures(self.owners, typed(self.chain_id, self.address, "SafeTx", TRANSACTION, message))
        checksum = self.contract.w3.to_checksum_address
        arguments = [checksum(target), 0, data, 0, 0, 0, 0, ZERO, ZERO, bytes.fromhex(signed[2:])]
        return bytes.fromhex(self.contract.encode_abi("execTransaction", arguments)[2:])


@pytest.fixture
def safe(emulator, fund, witness):
    """Deploys a wallet with three owners, of whom two must sign. Returns a function that selects the signing owners."""
    web3, carrier = witness.web3, fund()
    account = EthAccount.from_key(carrier.reveal())

    def send(call: Any) -> Any:
        fields = {"from": account.address, "nonce": web3.eth.get_transaction_count(account.address)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            built = call.build_transaction(fields)
        sent = web3.eth.send_raw_transaction(account.sign_transaction(built).raw_transaction)
        return web3.eth.wait_for_transaction_receipt(sent)

    def deploy(path: str) -> Any:
        found = artifact(path)
        contract = web3.eth.contract(abi=found["abi"], bytecode=found["bytecode"])
        return web3.eth.contract(address=send(contract.constructor())["contractAddress"], abi=found["abi"])

    singleton = deploy("Safe.sol/Safe.json")
    factory = deploy("proxies/SafeProxyFactory.sol/SafeProxyFactory.json")
    handler = deploy("handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json")
    owners = [LocalSigner.random() for _ in range(3)]
    addresses = [owner.address for owner in owners]
    setup = singleton.encode_abi("setup", [addresses, 2, ZERO, b"", handler.address, ZERO, 0, ZERO])
    created = factory.functions.createProxyWithNonce(singleton.address, setup, 7)
    address = created.call()
    assert send(created)["status"] == 1
    contract = web3.eth.contract(address=address, abi=singleton.abi)
    assert contract.functions.getThreshold().call() == 2

    def used_by(*numbers: int) -> MultiSignatureWallet:
        return MultiSignatureWallet(
            address, [owners[number] for number in numbers], carrier, contract, emulator.chain_id
        )

    return used_by


def test_two_of_three_owners_receive_an_account_and_change_it(svc, safe, fund, action) -> None:
    account = svc.accounts.create("to the board")
    api = svc.with_key(account.api_key)
    api.billing.top_up(500)
    board = safe(0, 2)
    ours = api.accounts.convert(board, confirm=True)  # ERC-1271: the contract checks two signatures
    assert ours.describe().admin == board.address
    group = ours.groups.create("adders", actions=[action])
    key = ours.usage_keys.create("runner", execute_in_groups=[group])
    assert svc.with_key(key).run(action, n=41).response == 42
    assert ours.wallets.create("minted by two").name == "minted by two"
    # Two other owners can also sign for the wallet.
    again = svc.chain_secured.open(safe(1, 2))
    assert again.billing.balance().available_cents == ours.billing.balance().available_cents
    assert again.groups.create("by others").id == 2
    # Neither the service nor the chain accepts a single owner.
    alone = svc.chain_secured.open(safe(1))
    with pytest.raises(BadRequest):
        alone.wallets.create("no")
    with pytest.raises(ChainError, match="does not execute calls for"):
        alone.groups.create("no")
    assert [entry.who.count("(contract)") for entry in ours.audit()][-4:] == [1, 1, 1, 1]
    # The wallet transfers the account to a wallet with a key.
    heir = fund()
    ours.transfer_ownership(heir, confirm=True)
    assert svc.chain_secured.open(heir).api_key_hash == account.api_key_hash
