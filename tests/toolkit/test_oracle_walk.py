"""The steps of docs/oracle-walk.md lead from a new project to a price in a contract."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svcnb.launch import Emulator
from svcnb.toolkit.cookbook import create_project
from tests.process_groups import running

pytestmark = [pytest.mark.slow, pytest.mark.chain, pytest.mark.engine]

Step = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return create_project("price-oracle", tmp_path / "my-oracle")


@pytest.fixture
def sources(project: Path) -> Iterator[list[str]]:
    """Output of `python sources.py`, which runs until the end of the test."""
    command = [sys.executable, "sources.py"]
    with running(command, cwd=project, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield [process.stdout.readline() for _ in range(7)]


@pytest.fixture
def service(sources: list[str]) -> Iterator[Emulator]:
    address = re.findall(r"--allow-address (\S+)", sources[0])
    with Emulator(starter_credits=500, allow_address=address) as emulator:
        yield emulator


@pytest.fixture
def step(project: Path, service: Emulator) -> Step:
    """Runs a command in the folder of the project."""
    environment = os.environ | {"SVC_BASE_URL": service.base_url, "SVC_RPC_URL": service.rpc_url}
    return lambda *command: subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_price_reaches_the_contract(project: Path, sources: list[str], service: Emulator, step: Step) -> None:
    wallet = step("contract.py", "wallet").stdout.strip()
    assert step("-m", "svcnb", "emulator", "faucet", wallet, "--url", service.base_url).returncode == 0
    assert "never overwrites a key" in step("contract.py", "wallet").stderr
    address, _, chain = step("contract.py", "deploy", "PriceConsumer", "ETH/USD", "300").stdout.partition(" ")
    assert "31337" in chain

    plan = project / "account.toml"
    text = plan.read_text().replace("0x" + "0" * 40, address)
    plan.write_text(re.sub(r"sources = \[.*?\n\]\n", "".join(sources[2:7]), text, flags=re.DOTALL))
    assert step("-m", "svcnb", "account", "create", "demo", "--save", "account.key").returncode == 0
    key = ["--key-file", "account.key"]
    assert step("-m", "svcnb", "apply", "account.toml", "--secrets", "keys.json", "--yes", *key).returncode == 0

    answer = step("-m", "svcnb", "run", "account.toml", "--key-file", "keys.json")
    (project / "answer.json").write_text(answer.stdout)
    early = step("contract.py", "send", "PriceConsumer", "update", "answer.json")
    assert "rejected the call: NotTheOracle(address)" in early.stderr
    assert "rejected the call: TooOld(uint64)" in step("contract.py", "call", "PriceConsumer", "latest").stderr
    assert step("contract.py", "send", "PriceConsumer", "trust", json.loads(answer.stdout)["signer"]).returncode == 0
    assert "gas" in step("contract.py", "send", "PriceConsumer", "update", "answer.json").stdout
    assert step("contract.py", "call", "PriceConsumer", "latest").stdout == "314159000000\n"
    again = step("contract.py", "send", "PriceConsumer", "update", "answer.json")
    assert "rejected the call: OldRound(uint64)" in again.stderr

    for wrong in (("call", "PriceOracle", "latest"), ("send", "PriceConsumer", "trust")):
        refused = step("contract.py", *wrong)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
