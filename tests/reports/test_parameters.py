"""Parameters have types, and svcnb checks them before the run."""

from __future__ import annotations

import pytest

from svcnb import reports
from svcnb.reports import ParameterRefused, UnknownReport
from svcnb.reports.parameters import PermissionAudit, RunHistory, Spend


def test_texts_of_a_command_line_become_values_of_their_types() -> None:
    spend = Spend.checked({"budget_cents": "500", "min_days_left": "2.5", "since": "4w"}, "spend")
    assert (spend.budget_cents, spend.min_days_left, spend.since) == (500, 2.5, "4w")
    assert RunHistory.checked({"source": "trigger", "max_failed_percent": 5}, "run-history").max_failed_percent == 5.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 5}, "no parameter 'budget'"),
        ({"budget_cents": "five"}, "budget_cents = 'five'"),
        ({"budget_cents": 0}, "budget_cents = 0"),
        ({"budget_cents": 1.5}, "budget_cents = 1.5"),
        ({"budget_cents": True}, "budget_cents = True"),
        ({"since": "yesterday"}, "invalid duration 'yesterday': expected"),
        ({"since": "0s"}, "greater than zero"),
        ({"since": 7}, "since = 7"),
        ({"zone": "Mars/Olympus"}, "unknown time zone"),
        ({"zone": "../../etc/passwd"}, "unknown time zone"),
        ({"shown": "100000"}, "shown = '100000'"),
    ],
)
def test_invalid_values_are_rejected_with_the_allowed_ones(given, said) -> None:
    with pytest.raises(ParameterRefused, match=said) as caught:
        Spend.checked(given, "spend")
    assert caught.value.hint


def test_silence_cannot_be_longer_than_the_two_periods_that_are_read() -> None:
    given = {"since": "7d", "silent_after": "14d"}
    assert RunHistory.checked(given, "run-history").silent_after == "14d"
    with pytest.raises(
        ParameterRefused,
        match=r"silent_after = '15d' for the report run-history: must be at most twice as long as since \(7d\)",
    ):
        RunHistory.checked(given | {"silent_after": "15d"}, "run-history")


@pytest.mark.parametrize("name", ["api_key", "token", "triggers_token", "secret", "SVC_API_KEY"])
def test_secrets_cannot_be_parameters_and_are_not_shown(name) -> None:
    with pytest.raises(ParameterRefused, match="SVC_API_KEY") as caught:
        PermissionAudit.checked({name: "marked-secret"}, "permission-audit")
    assert "marked-secret" not in f"{caught.value!r}{caught.value}"


def test_an_unknown_report_is_rejected_with_the_available_ones() -> None:
    with pytest.raises(UnknownReport, match="unknown report 'spent'") as caught:
        reports.run("spent")
    assert "run-history, spend, permission-audit, trigger-health" in caught.value.hint
