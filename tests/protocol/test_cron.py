"""Schedules: valid texts, times of the ticks, and descriptions."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from svcnb.protocol.cron import Cron, InvalidCron

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC).timestamp()


def times(text: str, count: int) -> list[str]:
    return [tick.strftime("%a %d %H:%M:%S") for tick in Cron(text).preview(NEW_YEAR, count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 9 * * *", ["Fri 01 09:00:00", "Sat 02 09:00:00"]),
        ("*/20 * * * *", ["Fri 01 00:20:00", "Fri 01 00:40:00"]),
        ("30 0 9 * * *", ["Fri 01 09:00:30", "Sat 02 09:00:30"]),
        ("15,45 * * * * *", ["Fri 01 00:00:15", "Fri 01 00:00:45"]),
        ("0 12 * * MON", ["Mon 04 12:00:00", "Mon 11 12:00:00"]),
        ("0 0 1 * *", ["Mon 01 00:00:00", "Mon 01 00:00:00"]),
    ],
)
def test_a_schedule_fires_at_the_times_its_fields_name_in_utc(text, expected):
    assert times(text, 2) == expected


def test_the_tick_at_the_given_time_itself_is_not_included():
    nine = datetime(2027, 1, 1, 9, tzinfo=UTC).timestamp()
    assert Cron("0 9 * * *").next_after(nine) == nine + 86_400
    assert Cron("0 9 * * *").next_after(nine - 0.5) == nine


def test_the_preview_shows_ten_times_by_default():
    assert len(Cron("@daily".replace("@daily", "0 0 * * *")).preview(NEW_YEAR)) == 10


def test_the_sentence_says_what_the_fields_mean_and_that_it_is_utc():
    assert Cron("30 0 9 * * MON").sentence == "At 09:00:30 on Monday (UTC)"


@pytest.mark.parametrize(
    "text", ["", "  ", "* * * *", "* * * * * * *", "60 * * * *", "a b c d e", "*/0 * * * *", "x" * 300]
)
def test_the_error_for_an_invalid_schedule_contains_an_example(text):
    with pytest.raises(InvalidCron) as caught:
        Cron(text)
    assert "for example" in str(caught.value) or "write" in str(caught.value)


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4 *"])
def test_a_schedule_that_never_fires_is_refused(text):
    with pytest.raises(InvalidCron):
        Cron(text)


@pytest.mark.parametrize(
    "text",
    [
        "* * * * * *",
        "*/10 * * * * *",
        "0,29 * * * * *",
        "0,45 * * * * *",  # from second 45 to second 60 are only fifteen seconds
        "0,31 0,1 * * * *",  # first two ticks are 31 s apart, the third comes 29 s later
        "0,31 0,3,6,9,12,15,18,21,24,27,58,59 * * * *",  # too frequent, but only after the tenth tick of an hour
        "0,31 0,59 * * * *",
        "0,31 0,59 0,23 * * *",
    ],
)
def test_a_schedule_finer_than_thirty_seconds_is_refused_wherever_the_narrow_gap_lies(text):
    with pytest.raises(InvalidCron, match="within"):
        Cron(text)


@pytest.mark.parametrize(
    "text", ["0,30 * * * * *", "29,59 * * * * *", "0,31 0,30 * * * *", "59 59 * * * *", "* * * * *"]
)
def test_a_schedule_with_gaps_of_thirty_seconds_or_more_is_taken(text):
    ticks = Cron(text).preview(NEW_YEAR, 200)
    assert min((b - a).total_seconds() for a, b in pairwise(ticks)) >= 30


_FIELD = st.sets(st.integers(0, 59), min_size=1, max_size=4).map(lambda found: ",".join(map(str, sorted(found))))


@given(seconds=_FIELD, minutes=_FIELD)
@pytest.mark.slow
def test_the_verdict_agrees_with_a_day_of_ticks(seconds, minutes):
    text = f"{seconds} {minutes} * * * *"
    from cronsim import CronSim

    simulated = CronSim(text, datetime(2027, 1, 1, tzinfo=UTC))
    ticks = [next(simulated) for _ in range(4 * 4 * 3)]
    finest = min((b - a).total_seconds() for a, b in pairwise(ticks))
    try:
        Cron(text)
        taken = True
    except InvalidCron:
        taken = False
    assert taken == (finest >= 30)


def _numbers(low: int, high: int) -> st.SearchStrategy[str]:
    some = st.sets(st.integers(low, high), min_size=1, max_size=3).map(lambda found: ",".join(map(str, sorted(found))))
    # croniter treats a range of one number, such as 0-0, as any number.
    ends = st.sets(st.integers(low, high), min_size=2, max_size=2)
    return st.one_of(st.just("*"), some, ends.map(lambda found: f"{min(found)}-{max(found)}"))


_SCHEDULES = st.tuples(_numbers(0, 59), _numbers(0, 23), _numbers(1, 28), _numbers(1, 12), _numbers(0, 6)).map(" ".join)


@given(text=_SCHEDULES, after=st.integers(0, 4_000_000_000))
def test_the_times_are_those_of_croniter(text, after):
    """Compares with another implementation. If both day fields are set, a day must match at least one of them."""
    croniter = pytest.importorskip("croniter").croniter
    theirs = croniter(text, datetime.fromtimestamp(after, UTC))
    assert Cron(text).preview(after, 5) == [theirs.get_next(datetime) for _ in range(5)]
