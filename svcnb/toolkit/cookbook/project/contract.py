"""Commands that deploy and call the contracts of this project: ``python contract.py --help``.

The file ``owner.key`` contains the private key of the wallet. The environment variable OWNER_KEY_FILE selects another
file. The environment variable SVC_RPC_URL contains the URL of a node of the chain. ``deployed.json`` contains the
addresses of the deployed contracts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
from eth_account import Account
from web3 import HTTPProvider, Web3
from web3.exceptions import ContractCustomError
from web3.middleware import SignAndSendRawMiddlewareBuilder

import svcnb
from svcnb.testing import deploy as deploy_contract, send as send_call, vrs

HERE = Path(__file__).parent
DEPLOYED = HERE / "deployed.json"


def key_file() -> Path:
    """Returns the path of the file with the wallet's private key."""
    return Path(os.environ.get("OWNER_KEY_FILE", HERE / "owner.key"))


def connected() -> Web3:
    """Returns a web3 object that is connected to the chain and signs with the wallet."""
    if "SVC_RPC_URL" not in os.environ:
        raise click.ClickException("SVC_RPC_URL is not set. Set SVC_RPC_URL to the URL of a node of the chain.")
    if not key_file().is_file():
        raise click.ClickException(f"the file {key_file()} does not exist. Create a wallet: python contract.py wallet")
    account = svcnb.LocalSigner.from_keyfile(key_file()).account
    w3 = Web3(HTTPProvider(os.environ["SVC_RPC_URL"]))
    builder: Any = SignAndSendRawMiddlewareBuilder  # web3 types `build` as a function of two arguments
    w3.middleware_onion.inject(builder.build(account), layer=0)
    w3.eth.default_account = account.address
    return w3


def artifact(name: str) -> Path:
    """Returns the path of the file with the ABI and bytecode of a contract of this project."""
    known = sorted(file.stem for file in HERE.glob("*.sol"))
    if name not in known:
        raise click.ClickException(f"unknown contract {name!r}: expected one of {', '.join(known)}")
    return HERE / f"{name}.json"


def deployed() -> dict[str, str]:
    """Returns the address of each deployed contract by its name, from ``deployed.json``."""
    addresses: dict[str, str] = json.loads(DEPLOYED.read_text("utf-8")) if DEPLOYED.is_file() else {}
    return addresses


def bound(w3: Web3, name: str, function: str, given: tuple[str, ...]) -> Any:
    """Returns a function of a deployed contract, bound to its arguments."""
    interface = json.loads(artifact(name).read_text("utf-8"))["abi"]
    if name not in deployed():
        raise click.ClickException(f"{name} is not deployed yet. Deploy it: python contract.py deploy {name}")
    values = arguments(interface, function, given)
    contract = w3.eth.contract(Web3.to_checksum_address(deployed()[name]), abi=interface)
    return contract.functions[function](*values)


def arguments(interface: Any, function: str, given: tuple[str, ...]) -> list[Any]:
    """Returns the arguments, converted to the parameter types of a function of the contract.

    If the only argument is the name of a JSON file, this file contains the response of an action. The function then
    uses, for each parameter, the field of the response with the parameter's name.
    """
    known = [each["name"] for each in interface if each["type"] == "function"]
    if function not in {*known, "constructor"}:
        raise click.ClickException(f"unknown function {function!r}: expected one of {', '.join(known)}")
    inputs = [each.get("inputs", []) for each in interface if each.get("name", "constructor") == function]
    parameters = enumerate(inputs[0] if inputs else [], 1)
    types = {each["name"].rstrip("_") or f"argument {number}": each["type"] for number, each in parameters}
    if len(given) == 1 and given[0].endswith(".json"):
        values = response(Path(given[0]))
        if missing := ["signature" if name in {"v", "r", "s"} else name for name in types if name not in values]:
            raise click.ClickException(
                f"{given[0]} lacks {', '.join(dict.fromkeys(missing))}, which {function} requires: expected the "
                "complete response of a run"
            )
        return [_as(name, kind, values[name]) for name, kind in types.items()]
    if len(given) != len(types):
        wanted = ", ".join(f"{name} ({kind})" for name, kind in types.items())
        raise click.ClickException(
            f"wrong number of arguments for {function}: got {len(given)}, expected {len(types)}: {wanted or 'none'}"
        )
    return [_as(name, kind, value) for (name, kind), value in zip(types.items(), given, strict=True)]


def response(file: Path) -> dict[str, Any]:
    """Returns the fields of an action's response in a JSON file.

    The result also contains the fields of nested objects, and the parts v, r and s of the signature.
    """
    try:
        answer: dict[str, Any] = json.loads(file.read_text("utf-8"))
        nested = {name: value for inner in answer.values() if isinstance(inner, dict) for name, value in inner.items()}
        parts = zip("vrs", vrs(answer["signature"]), strict=True) if "signature" in answer else ()
    except AttributeError:
        raise click.ClickException(f"{file} does not contain a JSON object: expected the response of a run") from None
    except (OSError, ValueError, svcnb.SvcnbError) as error:
        raise click.ClickException(f"cannot use {file}: {error}") from None
    return nested | answer | dict(parts)


def rejection(name: str, refused: ContractCustomError) -> click.ClickException:
    """Returns an error message with the signature of the contract's error, or the data of an unknown error."""
    data = reason = str(refused.data)
    for each in json.loads(artifact(name).read_text("utf-8"))["abi"]:
        signature = f"{each.get('name')}({','.join(part['type'] for part in each.get('inputs', []))})"
        if each["type"] == "error" and data.startswith(Web3.keccak(text=signature)[:4].to_0x_hex()):
            reason = signature
    return click.ClickException(f"{name} rejected the call: {reason}")


def _as(name: str, kind: str, value: Any) -> Any:
    if kind == "bool":
        return value in {"true", True}
    try:
        if kind.startswith(("uint", "int")):
            return int(value)
        return Web3.to_checksum_address(value) if kind == "address" else value
    except (TypeError, ValueError):
        raise click.ClickException(f"invalid argument {name}: expected {kind}, got {value!r}") from None


@click.group()
def main() -> None:
    """Deploy and call the contracts of this project."""


@main.command()
def wallet() -> None:
    """Create a wallet and print its address. The wallet needs ether for gas."""
    account = Account.create()
    try:
        with open(key_file(), "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(account.key.hex())
    except FileExistsError:
        raise click.ClickException(
            f"{key_file()} already exists: this command never overwrites a key. Move the file first."
        ) from None
    click.echo(account.address)


@main.command()
@click.argument("name")
@click.argument("given", nargs=-1, metavar="[ARGUMENTS]...")
@click.option("--value", type=int, default=0, help="Amount to send to the new contract, in wei.")
def deploy(name: str, given: tuple[str, ...], value: int) -> None:
    """Deploy a contract and print its address."""
    file = artifact(name)
    values = arguments(json.loads(file.read_text("utf-8"))["abi"], "constructor", given)
    w3 = connected()
    contract = deploy_contract(w3, file, *values, **({"value": value} if value else {}))
    DEPLOYED.write_text(json.dumps(deployed() | {name: contract.address}, indent=1), "utf-8")
    click.echo(f"{contract.address} on the chain {w3.eth.chain_id}")


@main.command()
@click.argument("name")
@click.argument("function")
@click.argument("given", nargs=-1, metavar="[ARGUMENTS]...")
@click.option("--value", type=int, default=0, help="Amount to send to the contract with the call, in wei.")
def send(name: str, function: str, given: tuple[str, ...], value: int) -> None:
    """Call a function in a transaction.

    If the only argument is the name of a JSON file, the file contains the response of an action. The command then
    reads the arguments from the fields of this response.
    """
    try:
        receipt = send_call(bound(connected(), name, function, given), **({"value": value} if value else {}))
    except ContractCustomError as refused:
        raise rejection(name, refused) from None
    click.echo(f"{receipt['transactionHash'].to_0x_hex()}, {receipt['gasUsed']:,} gas")


@main.command()
@click.argument("name")
@click.argument("function")
@click.argument("given", nargs=-1, metavar="[ARGUMENTS]...")
def call(name: str, function: str, given: tuple[str, ...]) -> None:
    """Call a read-only function and print its result. The command prints bytes in hex."""
    try:
        found = bound(connected(), name, function, given).call()
    except ContractCustomError as refused:
        raise rejection(name, refused) from None
    click.echo(Web3.to_hex(found) if isinstance(found, bytes) else found)


if __name__ == "__main__":
    main()
