"""Exercises of lessons 11 to 13: triggers."""

from __future__ import annotations

from collections.abc import Callable

from svcnb.client.models.triggers import TriggerRun
from svcnb.protocol.cron import Cron, InvalidCron
from svcnb.protocol.event_signature import Event
from svcnb.toolkit.exercises.exercise import Exercise

_JANUARY_2026_S = 1_767_225_600
_MONDAY, _FRIDAY = 0, 4


def _of_run(name: str, source: str, praise: str, hint: Callable[[TriggerRun], str | None]) -> Exercise:
    """Returns an exercise whose answer is a finished run of a trigger of the kind `source`."""

    def check(run: TriggerRun) -> str | None:
        if run.input["source"] != source:
            return f"the trigger of this run has the kind {run.input['source']}: create a trigger with kind={source!r}."
        if not run.ended:
            return f"the run is still {run.status}: call triggers.wait_for_run(...), which waits until the run ends."
        return hint(run)

    return Exercise(name, "a TriggerRun, the result of triggers.wait_for_run(...)", praise, check, TriggerRun)


def _length(run: TriggerRun) -> str | None:
    if not run.ok:
        return f"the run failed: {run.error}"
    raw = run.input["event_raw"]
    if run.result != len(raw):
        return f"main returned {run.result!r}, but event_raw has {len(raw)} characters: return event_raw.length."
    return None


def _signed(run: TriggerRun) -> str | None:
    if "x-hub-signature-256" not in run.input["headers"]:
        return "the webhook request had no signature: pass headers=signed(body) to triggers.fire."
    if not run.ok:
        return f"the run failed: {run.error}. If the signature is wrong, sign exactly the bytes that you send."
    if run.input["event_raw_encoding"] != "base64":
        return "the body is valid UTF-8: send bytes that are not valid UTF-8, for example bytes([255, 0, 17])."
    return None


def _weekdays(text: str) -> str | None:
    try:
        ticks = Cron(text).preview(_JANUARY_2026_S, 30)
    except InvalidCron as error:
        return f"{error.message}."
    if any((tick.hour, tick.minute, tick.second) != (6, 30, 0) for tick in ticks):
        return (
            f"this schedule starts a run at {ticks[0]:%H:%M:%S}, not at 06:30:00: the first field is "
            "the minute, and the second field is the hour."
        )
    if any(not _MONDAY <= tick.weekday() <= _FRIDAY for tick in ticks):
        return "this schedule also starts runs on weekends: the last field is the day of the week."
    if len({tick.weekday() for tick in ticks}) < _FRIDAY + 1:
        return "this schedule does not start runs on all five weekdays: correct the last field, the day of the week."
    return None


def _scheduled(run: TriggerRun) -> str | None:
    if not run.ok:
        return f"the run failed: {run.error}"
    if not isinstance(run.result, str) or run.input["scheduled_at"] not in run.result:
        return f"main returned {run.result!r}: return a string that contains scheduled_at."
    return None


def _topic(text: str) -> str | None:
    expected = Event.parse("GroupAdded(uint256,uint256)").topic0
    if text.lower() == expected:
        return None
    if not text.startswith("0x") or len(text) != len(expected):
        return "the answer must be a topic of 0x and 64 hex digits: use topic0 of the result of triggers.event(...)."
    return "the answer is the topic of a different event: use topic0 of the result of triggers.event(...)."


def _group(run: TriggerRun) -> str | None:
    event = run.input["event"]
    if not event["event_signature"].startswith("GroupAdded"):
        return f"the event {event['event_signature']} started this run: watch the event GroupAdded."
    if "groupId" not in event["decoded"]:
        return "event.decoded does not contain groupId: include the names of the arguments in the event signature."
    if not run.ok:
        return f"the run failed: {run.error}"
    if str(run.result) != event["decoded"]["groupId"]:
        return f"main returned {run.result!r}: return event.decoded.groupId."
    return None


EXERCISES = (
    _of_run("webhooks.length", "webhook", "event_raw contains the body exactly as the sender sent it.", _length),
    _of_run(
        "webhooks.signed",
        "webhook",
        "a signature can cover any bytes, including bytes that are not valid text.",
        _signed,
    ),
    Exercise(
        "schedules.weekdays",
        "a schedule as a string",
        "the schedule starts a run every weekday at 06:30 UTC.",
        _weekdays,
        str,
    ),
    _of_run("schedules.text", "schedule", "the action receives the scheduled time of its run.", _scheduled),
    Exercise(
        "chain-events.topic",
        "a topic as a string of 0x and 64 hex digits",
        "the first topic of a log identifies the event.",
        _topic,
        str,
    ),
    _of_run(
        "chain-events.group",
        "chain_event",
        "the names in the event signature become the names in event.decoded.",
        _group,
    ),
)
