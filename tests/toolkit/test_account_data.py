"""Runs, fees and balance of an account at one service, and alarms on its actions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

import svcnb
from svcnb.protocol.hashes import api_key_hash
from svcnb.toolkit.account_data import AccountData, Period, _without_key, read_account_data
from svcnb.toolkit.alarms import Thresholds, alarms, figures
from svcnb.toolkit.history import History

ADD = svcnb.Action("const main = ({ n }) => n + 1", name="add")
FAIL = svcnb.Action("const main = () => { throw new Error('no') }", name="fail")
END = datetime(2026, 1, 8, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_a_record_of_two_emulators_counts_only_the_chosen_account(start_emulator, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    both = [start_emulator(starter_credits=cents) for cents in (500, 900)]
    for emulator in both:
        anyone = emulator.client(history=file)
        other = anyone.with_key(anyone.accounts.create("other"))
        account = anyone.accounts.create("demo")
        svc = anyone.with_key(account)
        svc.billing.balance()
        group = svc.groups.create("group", actions=[ADD, FAIL])
        key = svc.usage_keys.create("runner", execute_in_groups=[group])
        gone = svc.usage_keys.create("short-lived", execute_in_groups=[group])
        other.groups.create("not counted")
        other.run(ADD, n=1)
        for each in (key, gone):
            svc.with_key(each).run(ADD, n=1, until_effective=60)
        with pytest.raises(svcnb.ActionError):
            svc.run(FAIL)
        svc.usage_keys.delete(gone)
        data = read_account_data(emulator.client(history=False).with_key(account), History(file), Period.back("1d"))
        balance = svc.billing.balance().available_cents
        assert data.spent_cents == (500 if emulator is both[0] else 900) - balance == data.execution_cents + 4
        assert data.balance == balance
        assert data.check is not None
        assert (data.check.unexplained, data.check.fees) == (0, 4)
        assert {data.key_name(each) for each in data.runs["key"]} >= {"account key", "runner"}
        assert "1 recorded runs at this service used other keys" in " ".join(data.not_visible)
    emulator.credit(account.wallet_address, 7)
    data = read_account_data(emulator.client(history=False).with_key(account), History(file), Period.back("1d"))
    assert data.check is not None
    assert data.check.unexplained == 7


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_runs_of_another_machine_come_from_the_emulator(start_emulator, tmp_path) -> None:
    token = "a-token-of-this-test"
    emulator = start_emulator(starter_credits=500, control_token=token)
    account = emulator.client(history=False).accounts.create("demo")
    svc = emulator.client(history=False).with_key(account)
    svc.map(ADD, [{"n": n} for n in range(3)], progress=False)
    history, period = History(tmp_path / "history.sqlite"), Period.back("1d")
    data = read_account_data(svc, history, period)
    assert data.runs.empty
    assert "SVC_CONTROL_TOKEN" in " ".join(data.not_visible)
    data = read_account_data(svc, history, Period.back("1d"), control_token=token)
    assert data.execution_cents == 500 - svc.billing.balance().available_cents == 3
    assert not [each for each in data.not_visible if "SVC_CONTROL_TOKEN" in each]


def test_an_unreachable_service_leaves_the_local_record(tmp_path) -> None:
    svc = svcnb.Client("http://127.0.0.1:9", api_key="bm9ib2R5IGtub3dzIHRoaXMga2V5IG9mIDMyIGJ5dGVzIQ==", history=False)
    data = read_account_data(svc.with_options(retries=0), History(tmp_path / "none.sqlite"), Period.back("1d"))
    assert not data.reachable
    assert "did not respond" in data.not_visible[0]
    assert (data.spent_cents, data.cents_per_day, data.days_left, data.check) == (0, None, None, None)


def test_an_unreachable_service_hides_no_run_of_a_known_account(tmp_path) -> None:
    secret = "bm9ib2R5IGtub3dzIHRoaXMga2V5IG9mIDMyIGJ5dGVzIQ=="
    own, usage, wallet = api_key_hash(secret), "0x" + "1" * 64, "0x" + "a" * 40
    svc = svcnb.Client("http://127.0.0.1:9", api_key=secret, history=False).with_options(retries=0)
    history = History(tmp_path / "history.sqlite")
    served = {
        "request_id": "a", "correlation_id": "", "cid": ADD.cid, "api_key_hash": usage, "status": "success",
        "error": None, "cost_cents": 2, "started_at": datetime.now(UTC).timestamp() - 60, "elapsed_ms": 2_900.0,
    }  # fmt: skip
    history.add_service_runs([served], service=svc.base_url)
    history.remember_keys(svc.base_url, wallet, {own: "account key", usage: "robot"})
    data = read_account_data(svc, history, Period.back("1d"))
    assert (data.reachable, data.account, len(data.runs), data.key_name(usage)) == (False, wallet, 1, "robot")
    assert history.account_of("http://other.test", own) is None


def frame(*runs: tuple[str, str, float, int]) -> pd.DataFrame:
    """Creates runs from an action, a status, hours before the end, and a cost. The cost in cents is also the duration
    in seconds."""
    rows = sorted(runs, key=lambda run: -run[2])
    return pd.DataFrame(
        {
            "started_at": pd.to_datetime([END - timedelta(hours=hours) for _, _, hours, _ in rows], utc=True),
            "source": "client",
            "status": [status for _, status, _, _ in rows],
            "action": pd.Categorical([action for action, _, _, _ in rows]),
            "elapsed": [float(cents) for *_, cents in rows],
            "cost_cents": [cents for *_, cents in rows],
            "cid": "Qm",
            "key": "",
        }
    )


def data_of(runs: pd.DataFrame, previous: pd.DataFrame | None = None, balance: int | None = None) -> AccountData:
    before = runs[:0] if previous is None else previous
    period = Period(END - timedelta(days=7), END)
    return AccountData("http://a.test", "0x1", {}, period, runs, before, balance=balance)


def test_the_alarm_for_a_failing_action_has_its_first_failure() -> None:
    runs = frame(
        *(("bad", "failed", hours, 0) for hours in range(1, 7)), *(("good", "success", hours, 1) for hours in range(94))
    )
    [alarm] = alarms(data_of(runs), Thresholds())
    assert (alarm.kind, alarm.action) == ("failures", "bad")
    assert alarm.text == "6 of 6 runs failed (100.0 %; limit 20 %)"
    assert alarm.since == END - timedelta(hours=6)
    assert alarm.sentence("Europe/Vienna").endswith("since 2026-01-07 19:00 Europe/Vienna")


def test_an_alarm_starts_with_the_first_failure_after_the_last_success() -> None:
    runs = frame(("a", "failed", 9, 0), ("a", "success", 8, 1), ("a", "failed", 3, 0), ("a", "failed", 2, 0))
    [alarm] = alarms(data_of(runs), Thresholds())
    assert alarm.since == END - timedelta(hours=3)
    assert list(alarms(data_of(runs), Thresholds(min_runs=5))) == []
    assert list(alarms(data_of(runs), Thresholds(max_failed_percent=75))) == []
    assert list(alarms(data_of(runs), Thresholds(max_failed_percent=None))) == []


def test_latency_spend_and_silence_have_separate_thresholds() -> None:
    runs = frame(*(("a", "success", hours, 4) for hours in range(30, 40)))
    before = frame(*(("a", "success", hours + 200, 2) for hours in range(5)), ("b", "success", 200, 1))
    thresholds = Thresholds(max_p95_seconds=3, max_action_cents=39, silent_after="1d")
    found = {each.kind: each for each in alarms(data_of(runs, before), thresholds)}
    assert set(found) == {"latency", "spend", "silence"}, "b ran only once: its silence says nothing"
    assert (
        found["latency"].text
        == "95 % of the successful runs took up to 4.00 s (limit 3 s), 2.00 s in the previous period"
    )
    assert found["spend"].text == "$0.40 was spent (limit $0.39), $0.10 in the previous period"
    assert found["silence"].since == END - timedelta(hours=30)
    with pytest.raises(ValueError, match="invalid duration 'soon': expected"):
        alarms(data_of(runs), Thresholds(silent_after="soon"))


def test_only_finished_runs_count_for_the_minimum_number_of_runs() -> None:
    failed, slow = ("a", "failed", 3, 0), ("a", "success", 2, 4)
    data = data_of(frame(failed, slow, ("a", "running", 1, 0), ("a", "queued", 1, 0)))
    assert {each.kind for each in alarms(data, Thresholds(max_p95_seconds=3, min_runs=2))} == {"failures", "latency"}
    assert list(alarms(data, Thresholds(max_p95_seconds=3, min_runs=3))) == []


def test_an_expected_action_needs_no_earlier_runs_for_an_alarm() -> None:
    once = data_of(frame(), frame(("nightly", "success", 200, 1)))
    assert list(alarms(once, Thresholds(silent_after="1d"))) == []
    [alarm] = alarms(once, Thresholds(silent_after="1d", expected="nightly"))
    assert (alarm.kind, alarm.action, alarm.since) == ("silence", "nightly", END - timedelta(hours=200))
    [alarm] = alarms(data_of(frame()), Thresholds(silent_after="14d", expected="nightly"))
    assert alarm.text == "no run for more than 14d: the current and the previous period contain no run"
    assert alarm.since == END - timedelta(days=14)
    assert list(alarms(data_of(frame(("nightly", "success", 1, 1))), Thresholds(silent_after="1d", expected="x"))) == []
    with pytest.raises(ValueError, match="silent_after 15d is longer than the data"):
        alarms(data_of(frame()), Thresholds(silent_after="15d", expected="nightly"))


def test_figures_include_the_previous_period() -> None:
    rows = {
        each.action: each for each in figures(data_of(frame(("a", "failed", 1, 0)), frame(("b", "success", 200, 1))))
    }
    assert (rows["a"].failed_percent, rows["a"].runs_before) == (100.0, 0)
    assert (rows["b"].runs, rows["b"].runs_before, rows["b"].failed_percent_before) == (0, 1, 0.0)
    assert list(figures(data_of(frame()))) == []


def test_runs_of_triggers_without_a_key_are_counted_and_reported() -> None:
    frame = pd.DataFrame({"key": ["0x1", "", ""]})
    [sentence] = _without_key(frame)
    assert "counts 2 runs without a key, which can belong to any account" in sentence
    assert _without_key(frame[:1]) == []


def test_the_spending_rate_uses_the_recorded_days_and_not_the_period() -> None:
    data = data_of(frame(("a", "success", 48, 10), ("a", "success", 1, 10)), balance=100)
    assert (data.recorded_days, data.cents_per_day, data.days_left) == (2.0, 10.0, 10.0)
    short = data_of(frame(("a", "success", 2, 10)), balance=100)
    assert (short.cents_per_day, short.days_left) == (None, None)


@pytest.mark.chain
def test_a_report_without_the_balance_says_so(emulator, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    with emulator.client(history=file) as anyone:
        svc = anyone.with_key(anyone.accounts.create("demo"))
        svc.billing.balance()
        emulator.faults.next("billing", status=500)
        data = read_account_data(svc, History(file), Period.back("1d"))
    assert (data.balance, data.reachable) == (None, True)
    assert data.not_visible[0].startswith("The balance could not be read: ")
