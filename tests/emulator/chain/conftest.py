"""One real chain for all tests of this folder, accessed over JSON-RPC.

web3 and eth-account encode and sign all calls, which then go through the JSON-RPC gateway. The tests therefore compare
the contract, the gateway and the project's codec with independent code. Each test starts with the state immediately
after the deployment.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from eth_abi import abi as eth_abi
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_utils.abi import function_signature_to_4byte_selector as selector_of
from web3 import Web3
from web3.exceptions import ContractCustomError, ContractLogicError
from web3.providers import JSONBaseProvider

from svcnb import tools
from svcnb.emulator.chain.chain import Chain
from svcnb.emulator.chain.events import ChainEvent
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol import contract

T0 = 1_750_000_000
ROOT = bytes(range(32))
# Long timeout, because a busy machine is slow. Successful operations usually end much earlier.
PATIENCE_S = 300

# Literal copy of docs/service/contract.md#errors.
ERRORS = """
AccountDoesNotExist(uint256), NoAccountAccess(uint256,address), AccountAlreadyExists(uint256),
GroupDoesNotExist(uint256,uint256), PkpDoesNotExist(uint256,uint256,address),
ActionDoesNotExist(uint256,uint256,uint256),
UsageApiKeyDoesNotExist(uint256,uint256), InsufficientBalance(uint256,uint256), OnlyApiPayer(address),
OnlyApiPayerOrPricingOperator(address), OnlyApiPayerOrOwner(address), OnlyConfigOperatorOrOwner(address),
NotMasterAccount(uint256), NotAllowedToCreateGroup(uint256), NotAllowedToDeleteGroup(uint256),
NotAllowedToCreatePkp(uint256), NotAllowedToAddPkpToGroup(uint256,uint256),
NotAllowedToRemovePkpFromGroup(uint256,uint256), NotAllowedToManageIPFSIdsInGroup(uint256,uint256),
InvalidRequest(string), NotContractOwner(address,address), FunctionNotFound(bytes4), DirectETHTransferNotAllowed(),
UsageApiKeyExpired(uint256)
"""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            item.add_marker(pytest.mark.chain)
    # Parametrised tests run only on anvil.
    twice = [item for item in items if "[ethereumjs" in item.name and len([*item.iter_markers("slow")]) > 1]
    if twice:
        items[:] = [item for item in items if item not in twice]
        config.hook.pytest_deselected(items=twice)


def known_errors() -> dict[bytes, tuple[str, list[str]]]:
    """Returns the name and types of the documented errors by selector. eth-utils computes the selectors."""
    found = {}
    for signature in ERRORS.replace("\n", " ").replace("), ", ")|").strip().split("|"):
        name, _, types = signature.strip().rstrip(")").partition("(")
        found[selector_of(f"{name}({types})")] = (name, types.split(",") if types else [])
    return found


class Loop:
    """Event loop in a thread, for synchronous tests."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="chain-tests", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.begin(work).result(PATIENCE_S)

    def begin(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class GatewayProvider(JSONBaseProvider):
    """web3 provider that sends requests to the gateway."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        super().__init__()
        self._ask = ask

    def make_request(self, method: Any, params: Any) -> Any:
        import json

        return self._ask(json.loads(self.encode_rpc_request(method, params)))


class World:
    """The chain with helper methods for tests."""

    def __init__(self, loop: Loop, chain: Chain, clock: Clock, custody: Custody) -> None:
        self.loop = loop
        self.chain = chain
        self.clock = clock
        self.custody = custody
        self.events: list[ChainEvent] = []
        chain.on_event(self.events.append)
        self.w3 = Web3(GatewayProvider(self.rpc))
        self.contract = self.w3.eth.contract(Web3.to_checksum_address(chain.contract_address), abi=contract.abi())
        self.errors = known_errors()
        self.deployed = self.run(chain.export_snapshot())
        self._wallets = 0

    def rpc(self, body: Any) -> Any:
        return self.loop.run(self.chain.rpc(body))

    def request(self, method: str, *params: Any) -> Any:
        """Returns the complete response to one request."""
        return self.rpc({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(work)

    def wallet(self, *, ether: int = 10) -> Actor:
        """Creates a wallet with some ether."""
        self._wallets += 1
        account = Account.from_key(self._wallets.to_bytes(32, "big"))
        if ether:
            self.run(self.chain.faucet(account.address.lower(), ether * 10**18))
        return Actor(self, account)

    def owner(self) -> Actor:
        return Actor(self, Account.from_key(self.custody.owner_secret()))

    def admin_payer(self) -> Actor:
        return Actor(self, Account.from_key(self.custody.admin_payer_secret()))

    def payer(self) -> Actor:
        """Returns a payer that the relay uses last, so that the nonces do not conflict."""
        return Actor(self, Account.from_key(self.custody.payer_secret(2)))

    def hash_of(self, wallet: Actor) -> int:
        """Returns the hash that identifies a wallet's account."""
        return int.from_bytes(Web3.keccak(bytes.fromhex(wallet.address[2:])), "big")


class Actor:
    """Wallet that sends transactions to the contract."""

    def __init__(self, world: World, account: LocalAccount) -> None:
        self.world = world
        self.account = account
        self.address: str = account.address

    def transaction(self, function: str, *args: Any, **fields: Any) -> dict[str, Any]:
        call = self.world.contract.functions[function](*args)
        return self.fill({"to": self.world.contract.address, "data": call._encode_transaction_data()} | fields)

    def fill(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {
            "chainId": self.world.chain.chain_id,
            "nonce": self.world.w3.eth.get_transaction_count(self.account.address),
            "gas": 3_000_000,
            "maxFeePerGas": 10**10,
            "maxPriorityFeePerGas": 0,
            "value": 0,
        } | fields

    def send_raw(self, fields: dict[str, Any]) -> Any:
        """Sends a completed transaction, and returns its receipt."""
        raw = self.account.sign_transaction(fields).raw_transaction
        return self.world.w3.eth.get_transaction_receipt(self.world.w3.eth.send_raw_transaction(raw))

    def send(self, function: str, *args: Any) -> Any:
        """Sends a write, and returns its receipt."""
        receipt = self.send_raw(self.transaction(function, *args))
        assert receipt["status"] == 1, self.refused(function, *args)
        return receipt

    def ask(self, function: str, *args: Any, **where: Any) -> Any:
        """Returns the result of a view function for this wallet."""
        return self.world.contract.functions[function](*args).call({"from": self.address}, **where)

    def refused(self, function: str, *args: Any) -> tuple[Any, ...]:
        """Returns the name and arguments of the error with which the function reverts.

        The test also sends the transaction.
        """
        with pytest.raises((ContractCustomError, ContractLogicError)) as seen:
            self.ask(function, *args)
        receipt = self.send_raw(self.transaction(function, *args))
        assert receipt["status"] == 0
        assert not receipt["logs"]
        return self.world_error(seen.value.data)

    def world_error(self, data: Any) -> tuple[Any, ...]:
        raw = bytes.fromhex(str(data)[2:])
        name, types = self.world.errors[raw[:4]]
        return (name, *eth_abi.decode(types, raw[4:]))


@pytest.fixture(scope="package", params=["anvil", pytest.param("ethereumjs", marks=pytest.mark.slow)])
def session_world(request: pytest.FixtureRequest) -> Iterator[World]:
    """The same chain on each engine, because the engine of the browser must behave like anvil."""
    tools.anvil()
    loop = Loop()
    settings = Settings.load({}, seed="chain tests", chain_engine=request.param)
    clock, store = Clock(T0), Store(None)
    custody = Custody(ROOT, settings.vocabulary, Randomness("chain tests"))
    chain = Chain(settings, store, custody, clock)
    loop.run(chain.start())
    world = World(loop, chain, clock, custody)
    yield world
    world.run(chain.stop())
    store.close()
    loop.close()


@pytest.fixture
def world(session_world: World) -> World:
    session_world.run(session_world.chain.import_snapshot(session_world.deployed))
    session_world.clock.freeze(T0)
    session_world.events.clear()
    return session_world


@pytest.fixture
def alice(world: World) -> Actor:
    """Wallet that owns a ChainSecured account."""
    wallet = world.wallet()
    wallet.send("newChainSecuredAccount", "alice", "her account")
    return wallet


StartChain = Callable[..., Awaitable[Chain]]


@pytest.fixture
async def start_chain(tmp_path: Path) -> AsyncIterator[StartChain]:
    """Starts chains of one test on one database, and stops them after the test."""
    async with AsyncExitStack() as stack:

        async def start(*, seed: str = "own", clock: Clock | None = None, **settings: Any) -> Chain:
            store = Store(f"sqlite:///{tmp_path / 'state.db'}")
            stack.callback(store.close)
            loaded = Settings.load({}, seed=seed, **settings)
            custody = Custody(seed.encode().ljust(32), loaded.vocabulary, Randomness(seed))
            chain = Chain(loaded, store, custody, clock or Clock(T0))
            await chain.start()
            stack.push_async_callback(chain.stop)
            return chain

        yield start


@pytest.fixture
def errors() -> dict[bytes, tuple[str, list[str]]]:
    """Returns the name and types of every documented error by selector."""
    return known_errors()
