"""List of all visible runs, with a real emulator."""

from __future__ import annotations

import pytest

import svcnb
from svcnb.control import EmulatorError
from svcnb.toolkit.history import History
from svcnb.toolkit.run_feed import RunFeed, SeenRun
from svcnb.toolkit.run_summary import MOST_BUCKETS, summarise

ADD = svcnb.Action("async function main({ n }) {\n  console.log('got', n);\n  return n.toFixed();\n}\n", name="add")


@pytest.fixture
def svc(emulator, tmp_path):
    with emulator.client(history=tmp_path / "history.sqlite") as client:
        yield client.with_key(client.accounts.create("runner"))


def by_status(runs: list[SeenRun], svc: svcnb.Client) -> list[tuple[str, str]]:
    from svcnb.protocol.hashes import api_key_hash

    assert svc.config.api_key is not None
    mine = api_key_hash(svc.config.api_key.reveal())
    return [(run.origin, run.status) for run in runs if run.key_hash == mine]


@pytest.mark.chain
@pytest.mark.engine
def test_a_run_that_both_sides_recorded_is_one_entry(svc, emulator):
    ran = svc.run(ADD, n=1)
    feed = RunFeed(svc, History(svc.config.history))
    (run,) = [run for run in feed.read() if run.id == ran.request_id]
    assert (run.origin, run.status, run.action, run.traced) == ("client", "success", "add", True)
    # Charged amount, which is less than the client's estimate on a busy machine.
    assert run.cost_cents == emulator.run_record(ran.request_id)["cost_cents"]
    assert run.past is not None
    assert run.past.params == {"n": 1}


@pytest.mark.chain
@pytest.mark.engine
def test_the_list_includes_runs_of_others_newest_first(svc, emulator):
    svc.run(ADD, n=1)
    with emulator.client(history=False) as elsewhere, pytest.raises(svcnb.ActionError):
        elsewhere.with_key(svc.config.api_key).run(ADD, n=None)
    seen = RunFeed(svc, History(svc.config.history)).read()
    assert by_status(seen, svc) == [("service", "failed"), ("client", "success")]
    assert [run.started_at for run in seen] == sorted((run.started_at for run in seen), reverse=True)


@pytest.mark.chain
@pytest.mark.engine
def test_logs_of_a_failed_run_come_from_the_emulator(svc):
    with pytest.raises(svcnb.ActionError):
        svc.run(ADD, n=None)
    feed = RunFeed(svc, History(svc.config.history))
    failed = next(run for run in feed.read() if run.status == "failed" and run.origin == "client")
    assert feed.logs_of(failed).strip() == "got null"


@pytest.mark.chain
@pytest.mark.engine
def test_a_rejected_run_has_no_timeline(svc):
    key = svc.usage_keys.create("nothing")
    with pytest.raises(svcnb.Forbidden):
        svc.with_key(key).run(ADD, n=1)
    run = next(run for run in RunFeed(svc, History(svc.config.history)).read() if run.key_hash == key.api_key_hash)
    assert (run.status, run.traced, run.cost_cents) == ("refused", False, 0)


@pytest.mark.chain
@pytest.mark.engine
def test_a_run_that_was_repeated_until_a_grant_is_effective_is_one_entry(svc, emulator):
    key = svc.usage_keys.create("nothing")
    with pytest.raises(svcnb.Forbidden):
        svc.with_key(key).run(ADD, n=1, until_effective=0.3)
    runs = [run for run in RunFeed(svc, History(svc.config.history)).read() if run.key_hash == key.api_key_hash]
    assert [run.status for run in runs] == ["refused"]
    tries = [run for run in emulator.runs() if run["api_key_hash"] == key.api_key_hash]
    assert len(tries) > 1
    # Two runs stay separate, even if the client repeats both.
    with pytest.raises(svcnb.Forbidden):
        svc.with_key(key).run(ADD, n=1, until_effective=0.3)
    assert len([run for run in RunFeed(svc).read() if run.key_hash == key.api_key_hash]) == 2


@pytest.mark.chain
@pytest.mark.engine
def test_the_list_omits_the_free_check_of_a_new_usage_key(svc, emulator):
    owner = svcnb.LocalSigner.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "office")
    mine.billing.top_up(500)
    key = mine.usage_keys.create("adder", execute_in_groups=[mine.groups.create("adders", actions=[ADD])])
    ran = svc.with_key(key).run(ADD, n=1, until_effective=15)
    assert any(row["status"] == "refused" for row in emulator.runs() if row["api_key_hash"] == key.api_key_hash)
    runs = [run for run in RunFeed(svc).read() if run.key_hash == key.api_key_hash]
    assert [(run.id, run.status) for run in runs] == [(ran.request_id, "success")]
    # The list contains a charged check with a name, because the account paid for it.
    free = mine.usage_keys.create("any", execute_in_groups=["0"])
    (paid,) = [run for run in RunFeed(svc).read() if run.key_hash == free.api_key_hash]
    assert (paid.action, paid.status) == ("check of a usage key", "success")
    assert paid.cost_cents >= 1


@pytest.mark.chain
@pytest.mark.engine
def test_the_list_includes_runs_of_triggers_with_their_client(svc, emulator):
    triggers = emulator.triggers()
    key = svc.usage_keys.create("bell", execute_in_groups=[svc.groups.create("bells", actions=[ADD])])
    trigger = triggers.webhook("bell", ADD, key, default_params={"n": 1})
    triggers.fire(trigger, {})
    triggers.wait_for_run(trigger)
    feed = RunFeed(svc, triggers=triggers)
    (run,) = [run for run in feed.read() if ADD.cid == run.cid and run.key_hash == key.api_key_hash]
    assert (run.origin, run.action, run.status, run.traced) == ("trigger", "bell", "success", True)
    assert run.cost_cents >= 1  # one cent, unless this machine needs seconds for the run
    assert svc.trace(run.request_id).events[-1].kind == "end"
    assert feed.logs_of(run).strip() == "got 1"


@pytest.mark.chain
def test_without_a_local_record_the_list_contains_only_runs_of_the_service(svc):
    feed = RunFeed(svc.with_options())
    assert feed.history is not None  # the record of the client
    with svcnb.Client(svc.base_url, history=False) as silent:
        feed = RunFeed(silent)
        assert feed.history is None
        feed.read()
        assert feed.has_service_record


def test_an_unreachable_service_is_an_error():
    with svcnb.Client("http://127.0.0.1:9", history=False) as gone, pytest.raises(EmulatorError) as caught:
        RunFeed(gone).read()
    # The address can also belong to a live service, so the message does not mention a missing emulator.
    assert caught.value.message == "cannot connect to http://127.0.0.1:9, so its runs cannot be read"
    assert "mulator" not in str(caught.value)


def seen(at: float, status: str = "success", elapsed: float = 0.1, cents: int = 1, action: str = "a") -> SeenRun:
    return SeenRun(
        id=str(at), origin="client", started_at=at, status=status, elapsed=elapsed, cost_cents=cents, action=action
    )


def test_the_counts_over_time_have_no_gaps():
    found = summarise([seen(10.2), seen(10.9, "failed"), seen(13.0, "refused")])
    assert [(each.at, each.succeeded, each.failed) for each in found.buckets] == [
        (10, 1, 1),
        (11, 0, 0),
        (12, 0, 0),
        (13, 0, 1),
    ]
    assert (found.count, found.succeeded, found.width_s) == (3, 1, 1)


@pytest.mark.parametrize("span", [1, 59, 3_600, 86_400 * 3, 86_400 * 400])
def test_the_counts_over_time_have_a_limited_number_of_spans(span):
    runs = [seen(1_000_000 + span * part / 10) for part in range(11)]
    found = summarise(runs)
    assert len(found.buckets) <= MOST_BUCKETS + 1
    assert sum(bucket.succeeded for bucket in found.buckets) == 11 or span > 604_800 * MOST_BUCKETS


def test_percentiles_are_measured_values_of_successful_runs():
    runs = [seen(1, elapsed=took) for took in range(1, 101)] + [seen(1, "failed", elapsed=1_000)]
    # With the nearest-rank method, these are the 50th, 95th and 99th of 100 values, and the largest.
    assert summarise(runs).latency_s == ((50, 50), (95, 95), (99, 99), (100, 100))


def test_spend_is_by_action_most_expensive_first():
    found = summarise([seen(1, cents=1), seen(2, cents=5, action="b"), seen(3, cents=2), seen(4, cents=0, action="c")])
    assert found.spend == (("b", 5), ("a", 3))
    assert found.total_cents == 8


def test_the_summary_of_no_runs_is_empty():
    found = summarise([])
    assert (found.count, found.buckets, found.latency_s, found.spend) == (0, (), (), ())
