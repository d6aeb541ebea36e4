# ruff: noqa: E501 - sources of actions stand as their authors would write them
"""Realistic actions with a running emulator and its chain.

Code that is independent of the engine verifies every result: web3 on the chain, eth-account, or ``ecrecover`` inside a
contract. ``python test_on_chain.py`` compiles the contracts again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from Crypto.Cipher import AES
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.crypto import keccak
from web3 import HTTPProvider, Web3

from svcnb import tools
from svcnb.emulator.chain import compile as compiler

pytestmark = [pytest.mark.engine, pytest.mark.chain]

# These tests do not depend on the engine, or need `v8`.
ENGINES = ("v8",)

SOURCE = Path(__file__).parent / "contracts" / "Examples.sol"
ARTIFACT = SOURCE.with_suffix(".json")
ETHER = 10**18


class World:
    """Emulator, an account with credit, and the chain as read by another library."""

    def __init__(self, emulator: Any) -> None:
        self.emulator = emulator
        made = emulator.client().accounts.create("actions on chain")
        emulator.credit(made.wallet_address, 500)
        self.svc = emulator.client(api_key=made.api_key)
        self.w3 = Web3(HTTPProvider(emulator.rpc_url))
        self.deployer = Account.create()
        emulator.faucet(self.deployer.address, ETHER)

    def deploy(self, name: str, *args: Any) -> Any:
        """Deploys an example contract with a transaction that eth-account signs."""
        built = json.loads(ARTIFACT.read_text())[name]
        contract = self.w3.eth.contract(abi=built["abi"], bytecode=built["bytecode"])
        transaction = contract.constructor(*args).build_transaction(
            {"from": self.deployer.address, "nonce": self.w3.eth.get_transaction_count(self.deployer.address)}
        )
        raw = self.deployer.sign_transaction(transaction).raw_transaction
        receipt = self.w3.eth.wait_for_transaction_receipt(self.w3.eth.send_raw_transaction(raw), poll_latency=0.02)
        return self.w3.eth.contract(address=receipt["contractAddress"], abi=built["abi"])

    def wallet(self) -> str:
        """Creates a wallet whose key the service stores. Returns its address with a checksum."""
        return Web3.to_checksum_address(self.svc.wallets.create().wallet_address)

    def run(self, source: str, **params: Any) -> Any:
        return self.svc.run(source, params).response


@pytest.fixture
def world(emulator: Any) -> World:
    return World(emulator)


@pytest.fixture
def replaying(start_emulator: Callable[..., Any]) -> Callable[[Path], World]:
    """World whose actions use a recording instead of the network."""
    return lambda recording: World(start_emulator(network_policy="replay", network_file=str(recording)))


def split(signature: str) -> tuple[int, str, str]:
    """Returns v, r and s of a signature of 65 bytes."""
    digits = signature.removeprefix("0x")
    return int(digits[128:], 16), "0x" + digits[:64], "0x" + digits[64:128]


READ_TOKEN = """async function main({ rpc, token, holder }) {
  const provider = new ethers.providers.JsonRpcProvider(rpc);
  const erc20 = new ethers.Contract(token, [
    'function symbol() view returns (string)', 'function decimals() view returns (uint8)',
    'function totalSupply() view returns (uint256)', 'function balanceOf(address) view returns (uint256)',
  ], provider);
  const [symbol, decimals, supply, balance] = await Promise.all(
    [erc20.symbol(), erc20.decimals(), erc20.totalSupply(), erc20.balanceOf(holder)]);
  return { symbol, balance: ethers.utils.formatUnits(balance, decimals), supply: supply.toString() };
}"""


def test_a_token_on_the_chain_is_read(world: World):
    token = world.deploy("Token", 10**12)
    holder = world.wallet()
    answer = world.run(READ_TOKEN, rpc=world.emulator.rpc_url, token=token.address, holder=world.deployer.address)
    assert answer == {"symbol": "EXM", "balance": "1000000.0", "supply": str(token.functions.totalSupply().call())}
    assert world.run(READ_TOKEN, rpc=world.emulator.rpc_url, token=token.address, holder=holder)["balance"] == "0.0"


SEND = """async function main({ rpc, pkpId, to, ether }) {
  const provider = new ethers.providers.JsonRpcProvider(rpc);
  provider.pollingInterval = 50;
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }), provider);
  const sent = await wallet.sendTransaction({ to, value: ethers.utils.parseEther(ether) });
  const receipt = await sent.wait();
  return { from: receipt.from, hash: sent.hash, status: receipt.status, block: receipt.blockNumber };
}"""


def test_ether_is_sent_and_another_library_sees_it_arrive(world: World):
    wallet, receiver = world.wallet(), Account.create().address
    world.emulator.faucet(wallet, ETHER)
    answer = world.run(SEND, rpc=world.emulator.rpc_url, pkpId=wallet, to=receiver, ether="0.25")

    transaction = world.w3.eth.get_transaction(answer["hash"])
    receipt = world.w3.eth.get_transaction_receipt(answer["hash"])
    assert (transaction["from"], transaction["to"], transaction["value"]) == (wallet, receiver, ETHER // 4)
    assert (receipt["status"], receipt["blockNumber"]) == (1, answer["block"])
    assert answer["from"] == wallet
    assert world.w3.eth.get_balance(world.w3.to_checksum_address(receiver)) == ETHER // 4
    fee = receipt["gasUsed"] * receipt["effectiveGasPrice"]
    assert world.w3.eth.get_balance(world.w3.to_checksum_address(wallet)) == ETHER - ETHER // 4 - fee


MOVE_TOKEN = """async function main({ rpc, pkpId, token, to, units }) {
  const provider = new ethers.providers.JsonRpcProvider(rpc);
  provider.pollingInterval = 50;
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }), provider);
  const erc20 = new ethers.Contract(token, ['function transfer(address to, uint256 value) returns (bool)'], wallet);
  return (await (await erc20.transfer(to, units)).wait()).transactionHash;
}"""


def test_a_signed_transfer_moves_a_token(world: World):
    token, wallet = world.deploy("Token", 1_000), world.wallet()
    world.emulator.faucet(wallet, ETHER)
    transfer = token.functions.transfer(wallet, 600).build_transaction(
        {"from": world.deployer.address, "nonce": world.w3.eth.get_transaction_count(world.deployer.address)}
    )
    world.w3.eth.send_raw_transaction(world.deployer.sign_transaction(transfer).raw_transaction)
    receiver = Account.create().address
    sent = world.run(MOVE_TOKEN, rpc=world.emulator.rpc_url, pkpId=wallet, token=token.address, to=receiver, units=250)

    (log,) = token.events.Transfer().process_receipt(world.w3.eth.get_transaction_receipt(sent))
    assert (log["args"]["from"], log["args"]["to"], log["args"]["value"]) == (wallet, receiver, 250)
    assert token.functions.balanceOf(receiver).call() == 250
    assert token.functions.balanceOf(wallet).call() == 350


def test_a_transfer_that_the_wallet_cannot_pay_is_an_error_of_the_action(world: World):
    from svcnb.client.errors import ActionError

    with pytest.raises(ActionError, match="insufficient funds"):
        world.run(
            SEND, rpc=world.emulator.rpc_url, pkpId=world.wallet(), to=Account.create().address, ether="0.25"
        )  # fmt: skip


SIGN_QUOTE = """async function main({ pkpId, chainId, contract, quote }) {
  const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
  const types = { Quote: [{ name: 'pair', type: 'string' }, { name: 'cents', type: 'uint256' }, { name: 'at', type: 'uint64' }] };
  return signer._signTypedData({ name: 'Quotes', chainId, verifyingContract: contract }, types, quote);
}"""


def test_typed_data_that_an_action_signed_is_accepted_by_a_contract(world: World):
    witness, wallet = world.deploy("Witness"), world.wallet()
    quote = {"pair": "ETH/USD", "cents": 314_159, "at": 1_700_000_000}
    signature = world.run(
        SIGN_QUOTE, pkpId=wallet, chainId=world.emulator.chain_id, contract=witness.address, quote=quote
    )
    assert witness.functions.ofQuote("ETH/USD", 314_159, 1_700_000_000, *split(signature)).call() == wallet
    # The amount differs by one cent, so the contract recovers a different signer.
    assert witness.functions.ofQuote("ETH/USD", 314_160, 1_700_000_000, *split(signature)).call() != wallet


def test_one_action_uses_a_text_that_another_encrypted(world: World):
    wallet = world.wallet()
    seal = "const main = ({ pkpId, secret }) => Svc.Actions.Encrypt({ pkpId, message: secret })"
    use = """async function main({ pkpId, ciphertext, text }) {
      const key = await Svc.Actions.Decrypt({ pkpId, ciphertext });
      return new ethers.Wallet(ethers.utils.id(key)).signMessage(text);
    }"""
    reveal = "const main = ({ pkpId }) => Svc.Actions.getPrivateKey({ pkpId })"
    ciphertext = world.run(seal, pkpId=wallet, secret="sk-live-1234")
    signature = world.run(use, pkpId=wallet, ciphertext=ciphertext, text="sealed")

    signer = Account.from_key(keccak(b"sk-live-1234")).address
    assert Account.recover_message(encode_defunct(text="sealed"), signature=signature) == signer
    secret = bytes.fromhex(world.run(reveal, pkpId=wallet).removeprefix("0x"))
    assert Account.from_key(secret).address == wallet
    raw = bytes.fromhex(ciphertext)
    opened = AES.new(secret, AES.MODE_GCM, nonce=raw[:12]).decrypt_and_verify(raw[12:-16], raw[-16:])
    assert opened == b"sk-live-1234"


def test_a_contract_accepts_the_signer_of_a_replayed_price(replaying: Any, price: Any):
    world = replaying(price.recording)
    witness, wallet = world.deploy("Witness"), world.wallet()
    answer = world.run(price.source, pkpId=wallet, url=price.url)
    assert (answer["cents"], answer["at"]) == ("314159", 1_700_000_000)
    packed = b"ETH/USD" + (314_159).to_bytes(32, "big") + (1_700_000_000).to_bytes(8, "big")
    assert witness.functions.ofMessage(keccak(packed), *split(answer["signature"])).call() == wallet


def compiled() -> dict[str, Any]:
    """Compiles every example with the settings of the service's contract. Returns interfaces and creation codes."""
    wanted = {SOURCE.name: {"*": ["abi", "evm.bytecode.object"]}}
    request = {
        "language": "Solidity",
        "sources": {SOURCE.name: {"content": SOURCE.read_text()}},
        "settings": {**compiler.SETTINGS, "outputSelection": wanted},
    }
    (answer,) = compiler._run(json.dumps([request]))
    assert not answer.get("errors"), answer["errors"]
    return {
        name: {"abi": built["abi"], "bytecode": "0x" + built["evm"]["bytecode"]["object"]}
        for name, built in answer["contracts"][SOURCE.name].items()
    }


@pytest.mark.slow
@pytest.mark.skipif(not tools.solc_fetched(), reason="needs the compiler: svcnb fetch --compiler")
def test_the_committed_code_equals_the_compiled_source():
    assert json.loads(ARTIFACT.read_text()) == compiled()


if __name__ == "__main__":
    ARTIFACT.write_text(json.dumps(compiled(), indent=1) + "\n")
