"""The chain interface of the server: views, relayed writes, signatures of contract wallets, and an external chain."""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from svcnb import tools
from svcnb.emulator.chain.chain import Chain
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable, ContractRevert, Unsupported
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.relay import Wallet
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.json_rpc import over_http
from svcnb.emulator.platform.offload import current_account
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol.contract import AbiError
from svcnb.protocol.signature import address_of_secret

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import StartChain, World

KEY = 0xA11CE
ADMIN = "0x" + "11" * 20


def test_a_relayed_write_returns_what_the_function_returns(world: World) -> None:
    assert world.run(world.chain.write("newAccount", KEY, True, "n", "d", ADMIN)) is None
    assert world.run(world.chain.write("addGroup", KEY, "g", "", [5], [])) == 1
    assert world.run(world.chain.view("listGroups", KEY, 0, 10)) == ((1, "g", ""),)
    assert world.run(world.chain.view("getAccountWalletAddress", KEY)) == ADMIN


def test_parallel_writes_use_several_payers_and_return_their_own_results(world: World) -> None:
    world.run(world.chain.write("newAccount", KEY, True, "n", "d", ADMIN))

    async def together() -> list[Any]:
        return await asyncio.gather(*(world.chain.write("addGroup", KEY, f"{n}", "", [], []) for n in range(40)))

    before = world.w3.eth.block_number
    numbers = world.run(together())
    assert sorted(numbers) == list(range(1, 41))
    listed = {group[1]: group[0] for group in world.run(world.chain.view("listGroups", KEY, 0, 100))}
    assert [listed[str(n)] for n in range(40)] == numbers, "a number belongs to the group that was asked for"
    blocks = range(before + 1, world.w3.eth.block_number + 1)
    senders = {world.w3.eth.get_transaction_by_block(number, 0)["from"].lower() for number in blocks}
    assert senders == set(world.chain.payers)


def test_the_write_of_one_account_does_not_wait_for_all_those_of_another(world: World) -> None:
    ended: list[str] = []

    async def write(account: str, name: str) -> None:
        current_account.set(account)  # each task has a separate wallet
        await world.chain.write("addGroup", KEY, name, "", [], [])
        ended.append(name)

    async def together() -> None:
        many = [asyncio.create_task(write("greedy", str(n))) for n in range(40)]
        await asyncio.sleep(0)  # the writes wait for a payer
        await asyncio.gather(asyncio.create_task(write("modest", "modest")), *many)

    world.run(world.chain.write("newAccount", KEY, True, "n", "d", ADMIN))
    world.run(together())
    assert ended.index("modest") < 12


def test_a_rejected_write_has_a_named_error_and_no_cost(world: World) -> None:
    height = world.w3.eth.block_number
    with pytest.raises(ContractRevert) as seen:
        world.run(world.chain.write("addGroup", 404, "", "", [], []))
    assert seen.value.name == "NoAccountAccess"
    # The free payer can be any of them.
    assert seen.value.args_ in [(404, payer) for payer in world.chain.payers]
    assert str(seen.value) == f"NoAccountAccess(404, {seen.value.args_[1]})"
    with pytest.raises(ContractRevert, match="AccountDoesNotExist"):
        world.run(world.chain.view("listGroups", 404, 0, 1))
    assert world.w3.eth.block_number == height


def test_calls_with_wrong_arguments_are_rejected_without_a_request(world: World) -> None:
    with pytest.raises(KeyError, match="addGroup"):
        world.run(world.chain.write("addGroups"))
    with pytest.raises(AbiError, match="addGroup"):
        world.run(world.chain.write("addGroup", 1))
    with pytest.raises(AbiError):
        world.run(world.chain.view("listGroups", -1, 0, 1))


def test_a_view_can_have_a_sender_and_an_old_block(world: World) -> None:
    world.run(world.chain.write("newAccount", KEY, True, "n", "d", ADMIN))
    height = world.w3.eth.block_number
    assert world.run(world.chain.view("accountExistsAndIsMutable", KEY, sender=world.chain.payers[0])) is True
    assert world.run(world.chain.view("accountExistsAndIsMutable", KEY)) is False
    assert world.run(world.chain.view("resolveApiKeyHash", KEY, block=height))[0] == KEY
    assert world.run(world.chain.view("resolveApiKeyHash", KEY, block=height - 1))[0] == 0


async def test_a_call_of_an_old_block_without_state_uses_the_latest_block(start_chain: StartChain) -> None:
    first = await start_chain()
    await first.write("newAccount", KEY, True, "n", "d", ADMIN)
    await first.stop()
    second = await start_chain()
    assert (await second.view("resolveApiKeyHash", KEY, block=1))[0] == KEY


def test_events_reach_every_listener_before_the_write_returns(world: World) -> None:
    def broken(_event: Any) -> None:
        raise ValueError("a listener's own trouble")

    world.chain._listeners.insert(0, broken)
    try:
        world.run(world.chain.write("newAccount", KEY, True, "n", "d", ADMIN))
    finally:
        world.chain._listeners.remove(broken)
    assert [(event.name, event.args["apiKeyHash"]) for event in world.events] == [("AccountCreated", KEY)]


async def test_writes_complete_even_if_the_caller_disconnects(start_chain: StartChain) -> None:
    chain = await start_chain()
    node = chain._chain
    assert isinstance(node, LocalChain)
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        entered.set()
        await go_on.wait()

    async def has_sent(how_many: int) -> None:
        while len(node._jobs) < how_many:  # noqa: ASYNC110 - nobody signals it
            await asyncio.sleep(0)

    slow = asyncio.ensure_future(node.exclusively(hold))
    await entered.wait()
    first = asyncio.ensure_future(chain.write("newAccount", KEY, True, "n", "d", ADMIN))
    await has_sent(1)
    first.cancel()
    second = asyncio.ensure_future(chain.write("newAccount", KEY + 1, True, "n", "d", ADMIN))
    await has_sent(2)
    go_on.set()
    await asyncio.gather(slow, second)
    for key in (KEY, KEY + 1):
        assert (await chain.view("resolveApiKeyHash", key))[0] == key


def test_an_error_for_the_nonce_of_several_writes_means_that_the_chain_is_unavailable(world: World) -> None:
    payer = Wallet("0x12", lambda: b"")
    with pytest.raises(ChainUnavailable, match="the chain returned an error for a transaction of 0x12: "):
        world.run(world.chain._relay.send_all(payer, [(ADMIN, b"")]))


async def test_a_managed_write_takes_the_configured_block_time(start_chain: StartChain) -> None:
    chain = await start_chain(chain_block_time_ms=200)
    begun = time.monotonic()
    await chain.write("newAccount", KEY, True, "n", "d", ADMIN)
    assert time.monotonic() - begun >= 0.2


# --- contract wallets -------------------------------------------------------------------------------------------------


def test_a_contract_wallet_accepts_only_its_owners_signature(world: World) -> None:
    owner, digest = Account.from_key("0x" + "42" * 32), keccak(text="something")
    wallet = world.run(world.chain.deploy_contract_wallet(owner.address))
    signature = bytes(owner.unsafe_sign_hash(digest).signature)
    valid = world.chain.is_valid_signature
    assert world.run(valid(wallet, digest, signature)) is True
    assert world.run(valid(wallet, keccak(text="other"), signature)) is False
    assert world.run(valid(wallet, digest, signature[:-1])) is False
    assert world.run(valid(wallet, digest, signature + b"\x00" * 4000)) is False
    stranger = Account.from_key("0x" + "43" * 32)
    assert world.run(valid(wallet, digest, bytes(stranger.unsafe_sign_hash(digest).signature))) is False


def deploy(world: World, runtime: str) -> str:
    """Deploys a contract with this code."""
    size = len(runtime) // 2
    sender = world.wallet()
    receipt = sender.send_raw(sender.fill({"data": f"0x60{size:02x}600a5f3960{size:02x}5ff3{runtime}"}))
    return str(receipt["contractAddress"]).lower()


@pytest.mark.parametrize(
    ("runtime", "accepted"),
    [
        ("631626ba7e60e01b5f5260205ff3", True),  # the magic value in a complete word
        ("631626ba7e60e01b6001175f5260205ff3", True),  # the rest of the word has no effect
        ("631626ba7e60e01b5f5260045ff3", False),  # four bytes are not a complete word
        ("631626ba7f60e01b5f5260205ff3", False),  # another value
        ("5f5ffd", False),  # a revert
        ("5b5f56", False),  # a loop, which the gas limit ends
        ("fe", False),  # an invalid instruction
        ("00", False),  # no returned data
    ],
)
def test_only_the_exact_magic_value_is_accepted(world: World, runtime: str, accepted: bool) -> None:  # noqa: FBT001
    address = deploy(world, runtime)
    assert world.run(world.chain.is_valid_signature(address, b"\x00" * 32, b"")) is accepted


def test_an_address_without_code_signs_nothing(world: World) -> None:
    assert world.run(world.chain.is_valid_signature("0x" + "77" * 20, b"\x00" * 32, b"")) is False


# --- an external chain -----------------------------------------------------------------------------------------------


@pytest.fixture
async def foreign_url() -> AsyncIterator[str]:
    """External node with another chain id."""
    process = await asyncio.create_subprocess_exec(
        str(tools.anvil()), "--port", "0", "--chain-id", "777", "--accounts", "0", "--max-persisted-states", "0",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(300):
        while not (line := (await process.stdout.readline()).decode()).startswith("Listening on "):
            assert line, "the node ended before it listened"
    yield f"http://{line.split()[-1]}"
    process.kill()
    await process.communicate()


async def test_an_external_chain_works_if_the_owner_has_ether(foreign_url: str) -> None:
    settings = Settings.load({}, seed="own", chain_rpc=foreign_url, api_payers=1)
    custody = Custody(b"own".ljust(32), settings.vocabulary, Randomness("own"))
    connection, store = over_http(foreign_url), Store(None)
    owner = address_of_secret(custody.owner_secret())
    try:
        with pytest.raises(ChainUnusable, match=owner):
            await Chain(settings, store, custody, Clock()).start()
        for address in (owner, address_of_secret(custody.payer_secret(0))):
            await connection.request("anvil_setBalance", address, hex(10**20))
        chain = Chain(settings, store, custody, Clock())
        await chain.start()
        heard: list[str] = []
        chain.on_event(lambda event: heard.append(event.name))
        await chain.write("newAccount", KEY, True, "n", "d", ADMIN)
        assert chain.chain_id == 777
        assert heard == ["AccountCreated"]
        assert await chain.write("addGroup", KEY, "g", "", [], []) == 1
        with pytest.raises(ContractRevert, match="NoAccountAccess"):
            await chain.write("addGroup", 404, "", "", [], [])
        for impossible in (chain.faucet(owner, 1), chain.export_snapshot(), chain.import_snapshot(b"")):
            with pytest.raises(Unsupported):
                await impossible
        await chain.stop()
        again = Chain(settings, store, custody, Clock())
        await again.start()
        assert again.contract_address == chain.contract_address
        assert (await again.view("resolveApiKeyHash", KEY))[0] == KEY
        await again.stop()
    finally:
        await connection.close()
        store.close()


async def test_the_error_for_an_unreachable_chain_omits_its_address(start_chain: StartChain) -> None:
    with pytest.raises(ChainUnavailable) as seen:
        await start_chain(chain_rpc="http://127.0.0.1:9/secret-key")
    assert seen.value.status == 503
    assert "secret-key" not in str(seen.value)
