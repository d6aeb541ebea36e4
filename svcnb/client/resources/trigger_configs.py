"""Checks and previews of schedules and event signatures, which need no request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.triggers import CronPreview, EventPreview
from svcnb.protocol.cron import Cron
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.event_signature import Event

T = TypeVar("T")


def schedule_config(cron: str) -> dict[str, Any]:
    """Returns the settings of a schedule.

    Raises:
        InvalidArgument: The text is not a schedule, or fires too often.
    """
    return {"cron": _checked(Cron, cron).text}


def chain_config(
    chain: str, contract: str, event: str, topics: object, start_block: int | str | None
) -> dict[str, Any]:
    """Returns the settings of a chain event.

    Raises:
        InvalidArgument: The event is not a signature.
    """
    _checked(Event.parse, event)
    config: dict[str, Any] = {"chain": chain, "contract_address": str(contract), "event_signature": event}
    if topics:
        config["topic_filters"] = topics
    if start_block is not None:
        config["start_block"] = start_block
    return config


def preview_cron(text: str, after: float, count: int) -> CronPreview:
    """Returns the next times at which a schedule fires.

    Raises:
        InvalidArgument: The text is not a schedule, or fires too often.
    """
    cron = _checked(Cron, text)
    return CronPreview(cron=cron.text, sentence=cron.sentence, times=tuple(cron.preview(after, count)))


def preview_event(text: str) -> EventPreview:
    """Explains an event signature.

    Raises:
        InvalidArgument: The text is not an event signature.
    """
    event = _checked(Event.parse, text)
    arguments = tuple(
        " ".join(part for part in (f"arg{place}", str(item.type), "indexed" if item.indexed else "", item.name) if part)
        for place, item in enumerate(event.arguments)
    )
    return EventPreview(signature=event.canonical, topic0=event.topic0, arguments=arguments, warnings=event.warnings)


def _checked(read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except MalformedValue as error:
        raise InvalidArgument(error.message, hint=error.hint) from None
    except TypeError as error:
        raise InvalidArgument(str(error)) from None
