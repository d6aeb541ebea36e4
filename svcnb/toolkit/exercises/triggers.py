"""Exercises of the three lessons about triggers."""

from __future__ import annotations

from typing import Any

from svcnb.protocol.cron import Cron
from svcnb.protocol.event_signature import Event
from svcnb.toolkit.exercises.exercise import Exercise

_JANUARY_2026_S = 1_767_225_600
_MONDAY, _FRIDAY = 0, 4


def _length(run: Any) -> str | None:
    if not run.ok:
        return f"the run is {run.status}: {run.error or 'wait for its end with triggers.wait_for_run'}."
    raw = run.input["event_raw"]
    if run.result != len(raw):
        return f"main returned {run.result!r}, and event_raw has {len(raw)} characters: return event_raw.length."
    return None


def _signed(run: Any) -> str | None:
    if "x-hub-signature-256" not in run.input["headers"]:
        return "the post carried no signature: pass headers=signed(body) to triggers.fire."
    if not run.ok:
        return "the action refused the signature: sign exactly the bytes that you send."
    if run.input["event_raw_encoding"] != "base64":
        return "these bytes are UTF-8: send some that are not, for example bytes([255, 0, 17])."
    return None


def _weekdays(text: Any) -> str | None:
    ticks = Cron(text).preview(_JANUARY_2026_S, 30)
    if any((tick.hour, tick.minute, tick.second) != (6, 30, 0) for tick in ticks):
        return "it also fires at other times of the day than 06:30:00."
    if any(not _MONDAY <= tick.weekday() <= _FRIDAY for tick in ticks):
        return "it also fires at weekends: the last field is the day of the week."
    if len({tick.weekday() for tick in ticks}) < _FRIDAY + 1:
        return "it leaves out some of the five weekdays."
    return None


def _greeting(run: Any) -> str | None:
    if run.input.get("source") != "schedule":
        return "that run was not started by a schedule."
    if not run.ok:
        return f"the run is {run.status}."
    if not isinstance(run.result, str) or run.input["scheduled_at"] not in run.result:
        return "let main return a text that holds scheduled_at."
    return None


def _topic(text: Any) -> str | None:
    wanted = Event.parse("GroupAdded(uint256,uint256)").topic0
    return None if str(text).lower() == wanted else "TriggersClient.event(...) shows it as topic0."


def _group(run: Any) -> str | None:
    event = run.input["event"]
    if not event["event_signature"].startswith("GroupAdded"):
        return "watch the event GroupAdded."
    if "groupId" not in event["decoded"]:
        return "write the names of the arguments into the signature, so that event.decoded has them, too."
    if not run.ok or str(run.result) != event["decoded"]["groupId"]:
        return "let main return event.decoded.groupId."
    return None


EXERCISES = (
    Exercise("webhooks.length", "event_raw is the body exactly as it was sent.", _length),
    Exercise("webhooks.signed", "a signature is checked over bytes, whatever they mean.", _signed),
    Exercise("schedules.weekdays", "every weekday at half past six, UTC.", _weekdays),
    Exercise("schedules.text", "the action knows which tick it runs for.", _greeting),
    Exercise("chain-events.topic", "the first topic says which event a log is.", _topic),
    Exercise("chain-events.group", "names in the signature are names in event.decoded.", _group),
)
