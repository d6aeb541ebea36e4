"""schemathesis with a real emulator: every operation of its OpenAPI description, alone and in sequences of calls."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

API: Final = "/core/v1"
CHECKS: Final = (
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "allow_header_conformance",
    "unsupported_method",
    "no_failure_of_the_service",
    "errors_have_one_of_two_shapes",
)
ACTION: Final = "async function main(params) { return params; }"

# Operations whose responses other calls can use: operation, member of its response, the other operations, and their
# parameter.
LINKS: Final = (
    ("add_group", "group_id", ("update_group", "remove_group", "add_action_to_group", "add_pkp_to_group"), "group_id"),
    ("add_group", "group_id", ("remove_action_from_group", "remove_pkp_from_group"), "group_id"),
    (
        "add_usage_api_key",
        "usage_api_key",
        ("update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key"),
        "usage_api_key",
    ),
    ("create_wallet", "wallet_address", ("add_pkp_to_group", "remove_pkp_from_group"), "pkp_id"),
    ("billing/create_payment_intent", "payment_intent_id", ("billing/confirm_payment",), "payment_intent_id"),
    ("list_actions", "0/hashed_cid", ("delete_action", "update_action_metadata"), "hashed_cid"),
)


@dataclass(frozen=True)
class FuzzReport:
    """Result of a run of schemathesis.

    Attributes:
        cases: Number of sent and checked requests.
        operations: Number of tested operations.
        described: Number of operations in the description.
        problems: Failures and errors, each with its title.
        text: Complete output.
    """

    cases: int
    operations: int
    described: int
    problems: list[str]
    text: str


def _operation_id(description: dict[str, Any], name: str) -> str:
    methods = description["paths"][f"{API}/{name}"]
    return str((methods.get("post") or methods["get"])["operationId"])


def with_links(description: dict[str, Any]) -> dict[str, Any]:
    """Returns the description with links from responses to requests, so that calls can use existing objects."""
    for source, member, targets, name in LINKS:
        methods = description["paths"][f"{API}/{source}"]
        answer = (methods.get("post") or methods["get"])["responses"]["200"]
        links = answer.setdefault("links", {})
        for target in targets:
            links[f"{target.replace('/', '_')}_{name}"] = {
                "operationId": _operation_id(description, target),
                "requestBody": {name: f"$response.body#/{member}"},
                "x-schemathesis": {"merge_body": True},
            }
    return description


def prepared(emulator: Any) -> dict[str, Any]:
    """Account with all kinds of objects, whose data requests can use. The clock is frozen, so signatures stay valid."""
    from svcnb import Action, LocalSigner
    from svcnb.client.signing.envelope import sign_flow
    from svcnb.protocol.typed_data import Flow

    emulator.clock.freeze()
    anyone = emulator.client()
    account, second = anyone.accounts.create("fuzzed"), anyone.accounts.create("to be converted")
    svc = anyone.with_key(account.api_key)
    action = Action(ACTION, name="echo")
    svc.actions.register(action)
    wallets = [svc.wallets.create() for _ in range(3)]
    groups = [svc.groups.create(f"group {n}", wallets=wallets[:1], actions=[action]) for n in range(4)]
    every = {"execute_in_groups": [0], "manage_ipfs_ids_in_groups": [0], "add_pkp_to_groups": [0]}
    everything = svc.usage_keys.create("may much", can_create_groups=True, can_create_pkps=True, **every)
    executing = svc.usage_keys.create("may execute", execute_in_groups=[groups[0]])
    removed = svc.usage_keys.create("removed")
    spare = [svc.usage_keys.create(f"spare {n}") for n in range(4)]
    svc.usage_keys.delete(removed)
    intents = [svc.billing.create_payment_intent(500) for _ in range(2)]
    emulator.processor(intents[0].payment_intent_id, "succeeded")
    signer = LocalSigner.random()
    signed = {flow.value: sign_flow(signer, flow, emulator.chain_id, int(emulator.clock.now())) for flow in Flow}
    return {
        "keys": [
            account.api_key.reveal(),
            *(key.usage_api_key.reveal() for key in (everything, executing, removed)),
            "no key",
        ],
        "conversion": second.api_key.reveal(),
        "flows": {
            f"{API}/create_wallet_with_signature": Flow.CREATE_WALLET.value,
            f"{API}/add_usage_api_key_with_signature": Flow.ADD_USAGE_API_KEY.value,
            f"{API}/convert_to_chain_secured_account": Flow.CONVERT_ACCOUNT.value,
        },
        "envelopes": {name: envelope.as_request() for name, envelope in signed.items()},
        "members": {
            "group_id": [int(group.id) for group in groups] + [str(groups[0].id), 2**64 - 1],
            "pkp_id": [wallet.wallet_address for wallet in wallets],
            "action_ipfs_cid": [action.cid],
            "hashed_cid": [action.hashed_cid, "0x" + "00" * 32],
            "usage_api_key": [key.usage_api_key.reveal() for key in spare],
            "code": [ACTION, "async function main() { throw new Error('no'); }", "const main = () => 'x'.repeat(2e6);"],
            "ipfs_id": [action.cid],
            "payment_intent_id": [intent.payment_intent_id for intent in intents],
            "new_admin_wallet_address": [signer.address],
            "execute_in_groups": [[0], [int(groups[0].id)], [2**64 - 1]],
        },
    }


@pytest.fixture(scope="session")
def start_fuzzed() -> Iterator[Callable[[], Any]]:
    """Starts an emulator with an account, and stops it."""
    from svcnb.launch import Emulator

    with ExitStack() as stack:

        def start() -> Any:
            emulator = stack.enter_context(
                Emulator(starter_credits=10**9, auto_approve_agents=True, action_spares=2, network_policy="deny")
            )
            with emulator.triggers() as triggers:
                return emulator, prepared(emulator) | {"token": triggers.token.reveal()}

        yield start


@pytest.fixture(scope="session")
def fuzz_api(start_fuzzed: Callable[[], Any]) -> Callable[..., FuzzReport]:
    """Runs schemathesis with every operation."""

    def run(folder: Path, *, examples: int, seed: int, phases: str, timeout_s: int) -> FuzzReport:
        emulator, pool = start_fuzzed()
        import httpx

        description = httpx.get(f"{emulator.base_url}{API}/openapi.json", trust_env=False, timeout=300).json()
        place, report = folder / "openapi.json", folder / "report.json"
        place.write_text(json.dumps(with_links(description)))
        command = [
            *(str(Path(sysconfig.get_path("scripts"), "schemathesis")), "run", str(place), "--url", emulator.base_url),
            *("--checks", ",".join(CHECKS), "--phases", phases, "--max-examples", str(examples), "--seed", str(seed)),
            *("--report", "json", "--report-json-path", str(report), "--continue-on-failure", "--no-color"),
            *("--suppress-health-check", "all", "--request-timeout", "300", "--warnings", "off"),
        ]
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")} | {
            "SVC_FUZZ_POOL": json.dumps(pool | {"seed": seed}),
            "SCHEMATHESIS_HOOKS": "hooks",
            "PYTHONPATH": str(Path(__file__).parent),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }
        told = folder / "schemathesis.txt"
        with told.open("w") as output:
            streams: Any = {"stdout": output, "stderr": subprocess.STDOUT}
            subprocess.run(command, cwd=folder, env=surroundings, timeout=timeout_s, check=False, **streams)
        assert report.exists(), told.read_text()
        said = json.loads(report.read_text())
        problems = [f"{found['title']}" for found in (*said["failures"], *said["errors"])]
        if said["exit_code"] and not problems:
            problems = ["schemathesis ended with a failure that it did not name"]
        return FuzzReport(
            cases=said["test_cases"]["generated"],
            operations=said["operations"]["tested"],
            described=said["operations"]["total"],
            problems=problems,
            text=told.read_text(),
        )

    return run
