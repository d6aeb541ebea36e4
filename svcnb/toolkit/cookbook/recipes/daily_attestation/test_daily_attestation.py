"""Tests that reports form a chain in which the verifier finds changed, omitted and inserted reports."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.address import to_checksum_address
from verify import problems  # type: ignore[import-not-found]

import svcnb
from svcnb.testing import StubServer
from svcnb.toolkit.stub_server import Response

HERE = Path(__file__).parent
TEMPLATE = svcnb.Action.from_file(HERE / "action.js", name="daily attestation")
PERIOD_S = 2
ANY = "const main = ({ cid }) => Svc.Actions.getSvcActionWalletAddress({ ipfsId: cid });"


@pytest.fixture(scope="session")
def services() -> Iterator[StubServer]:
    """Starts one server that is both the source of the value and the store."""
    with StubServer() as server:
        yield server


@pytest.fixture(scope="session")
def svc_emulator_settings(services: StubServer) -> dict[str, Any]:
    return {"allow_address": [services.host]}


class World:
    """Source of the value, store of the reports, and an action with a period of two seconds."""

    def __init__(self, svc: svcnb.Client, services: StubServer) -> None:
        self.svc, self.services = svc, services
        self.reports: list[dict[str, Any]] = []
        services.answers = {
            "/value": {"value": "1000"},
            "/store/latest": lambda _: self.reports[-1] if self.reports else Response(status=404),
            "/store/reports": self.keep,
        }
        self.config: dict[str, Any] = {
            "title": "Reserves",
            "source": services.url + "/value",
            "store": services.url + "/store",
            "periodSeconds": PERIOD_S,
        }
        self.start()

    def keep(self, request: Any) -> str:
        self.reports.append(request.json)
        return ""

    def start(self, template: svcnb.Action = TEMPLATE, **changed: Any) -> None:
        """Derives an action and creates its first report."""
        start_by = int(time.time() / self.config["periodSeconds"]) + 100
        self.action = template.derive(self.config | {"startBy": start_by} | changed, name="ATTESTATION")
        self.signer = to_checksum_address(self.svc.run(ANY, cid=self.action.cid).response)
        self.attest()

    def attest(self, **params: Any) -> dict[str, Any]:
        report: dict[str, Any] = self.svc.run(self.action, params).response
        return report

    def next(self) -> dict[str, Any]:
        """Waits for a later period, and creates the report of that period."""
        self.wait()
        return self.attest()

    def wait(self) -> None:
        """Waits until the period of the last report has ended."""
        time.sleep(max(0.0, (self.reports[-1]["period"] + 1) * PERIOD_S + 0.05 - time.time()))


@pytest.fixture
def world(svc: svcnb.Client, services: StubServer) -> World:
    return World(svc, services)


def test_anyone_can_verify_the_chain_of_reports(world: World, tmp_path: Path) -> None:
    # A busy machine can skip a short period, but not a day.
    world.next()
    assert [each for each in problems(world.reports, world.signer) if "expected" not in each] == []
    (tmp_path / "reports.json").write_text(json.dumps(world.reports[:1]))
    command = [sys.executable, str(HERE / "verify.py"), str(tmp_path / "reports.json"), world.signer]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("No problems found.")


def test_the_verifier_detects_a_changed_report(world: World) -> None:
    world.next()
    for changed in ({"value": "9"}, {"period": 1}, {"title": "Other"}, {"previous": "0x" + "11" * 32}):
        forged = [world.reports[0] | changed, world.reports[1]]
        assert any("not signed by" in each for each in problems(forged, world.signer))


def test_the_verifier_detects_an_omitted_inserted_or_moved_report(world: World) -> None:
    world.next()
    world.next()
    one, two, three = world.reports
    for chain in ([one, three], [two, three], [one, two, two, three], [two, one, three]):
        assert any("does not refer to" in each for each in problems(chain, world.signer))


def test_the_verifier_detects_a_skipped_period(world: World) -> None:
    world.next()
    skipped = [world.reports[0], world.reports[1] | {"period": world.reports[0]["period"] + 2}]
    assert any("expected" in each for each in problems(skipped, world.signer))


def test_a_report_of_another_signer_is_refused(world: World) -> None:
    stranger = Account.create()
    report = world.reports[0]
    text = f"{report['title']}\n{report['period']}\n{report['value']}\n{report['previous']}"
    signature = "0x" + stranger.sign_message(encode_defunct(text=text)).signature.hex()
    world.reports[0] = report | {"signature": signature}
    with pytest.raises(svcnb.ActionError, match="did not sign the last report"):
        world.next()


@pytest.mark.parametrize(
    "changed",
    [{"value": "9"}, {"value": "1\n1"}, {"value": 1000}, {"value": "\uff11"}, {"period": "1"}, {"period": 1e300},
     {"previous": None}, {"signature": None}, {"signature": "0x" + "00" * 65}, {"title": "Other"}],
)  # fmt: skip
def test_a_changed_last_report_is_refused(world: World, changed: dict[str, Any]) -> None:
    world.reports[0] |= changed
    with pytest.raises(svcnb.ActionError, match="did not sign the last report"):
        world.attest()


def test_a_store_that_hides_its_reports_cannot_start_a_new_chain(world: World) -> None:
    world.reports.clear()
    with pytest.raises(svcnb.ActionError, match="too late for a first one"):
        world.start(startBy=int(time.time() / PERIOD_S) - 1)


def test_the_verifier_detects_a_store_that_returns_an_old_report(world: World) -> None:
    world.next()
    hidden = world.reports.pop()
    world.next()
    assert world.reports[-1]["previous"] == hidden["previous"]
    whole = [world.reports[0], hidden, world.reports[-1]]
    assert any("does not refer to" in each for each in problems(whole, world.signer))


def test_a_period_has_only_one_report(world: World) -> None:
    world.config["periodSeconds"] = 86_400
    world.reports.clear()
    world.start()
    with pytest.raises(svcnb.ActionError, match="already has a report"):
        world.attest()


def test_parameters_have_no_effect(world: World) -> None:
    world.wait()
    report = world.attest(value="9", scheduled_at="1970-01-01T00:00:00Z", ATTESTATION={"title": "Other"})
    assert (report["title"], report["value"]) == ("Reserves", "1000")


@pytest.mark.parametrize("value", [1000, 1e300, "-1", "1.5", "0x10", "", "1\n", "\uff11", "9" * 31, None, ["1"]])
def test_an_invalid_value_is_refused(world: World, value: Any) -> None:
    world.services.answers["/value"] = {"value": value}
    with pytest.raises(svcnb.ActionError, match="did not return a value"):
        world.next()


def test_one_changed_byte_of_the_template_results_in_another_signer(world: World) -> None:
    before, reports = world.signer, list(world.reports)
    world.reports.clear()
    world.start(svcnb.Action(TEMPLATE.source + "\n"))
    assert world.signer != before
    assert any("not signed by" in each for each in problems([*reports, *world.reports], before))
