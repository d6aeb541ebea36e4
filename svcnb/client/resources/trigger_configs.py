"""Checks and previews of schedules and event signatures. They need no request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.triggers import CronPreview, EventPreview
from svcnb.protocol.cron import Cron
from svcnb.protocol.errors import shown
from svcnb.protocol.event_signature import Event
from svcnb.protocol.hashes import normal_address

T = TypeVar("T")


def schedule_config(cron: str) -> dict[str, Any]:
    """Returns the settings of a trigger of the kind ``schedule``.

    Raises:
        InvalidArgument: The text is not a cron expression, or the schedule fires too often.
    """
    return {"cron": _checked(Cron, cron).text}


def chain_config(
    chain: str, contract: str, event: str, topics: object, start_block: int | str | None
) -> dict[str, Any]:
    """Returns the settings of a trigger of the kind ``chain_event``.

    Raises:
        InvalidArgument: ``event`` is not an event signature.
    """
    _checked(Event.parse, event)
    config: dict[str, Any] = {"chain": chain, "contract_address": str(contract), "event_signature": event}
    if topics:
        config["topic_filters"] = topics
    if start_block is not None:
        config["start_block"] = start_block
    return config


def check(kind: str, config: Mapping[str, Any]) -> None:
    """Checks the settings that a kind of trigger requires, before the client creates and pays for anything.

    Raises:
        InvalidArgument: A required setting is missing, or a schedule, an address or an event signature is invalid.
    """
    if kind == "schedule":
        if not config.get("cron"):
            raise InvalidArgument(
                'the config of a schedule trigger has no "cron"',
                hint='Add "cron" to config, for example {"cron": "0 9 * * *"}.',
            )
        _checked(Cron, config["cron"])
    if kind == "chain_event":
        given: dict[str, Any] = {"contract_address": config.get("address")} | dict(config)
        if absent := [name for name in _CHAIN_FIELDS if not isinstance(given.get(name), str)]:
            raise InvalidArgument(
                "invalid config of a chain_event trigger: "
                + ", ".join(f'"{name}" must be a string, got {shown(given.get(name))}' for name in absent),
                hint=f"Add the fields {', '.join(_CHAIN_FIELDS)} to config.",
            )
        _checked(normal_address, given["contract_address"])
        _checked(Event.parse, given["event_signature"])


_CHAIN_FIELDS: Final = ("chain", "contract_address", "event_signature")


def preview_cron(text: str, after: float, count: int) -> CronPreview:
    """Returns the description of a cron expression, and the next ``count`` times at which the schedule fires.

    All times are after ``after``, in Unix seconds.

    Raises:
        InvalidArgument: The text is not a cron expression, or the schedule fires too often.
    """
    cron = _checked(Cron, text)
    return CronPreview(cron=cron.text, sentence=cron.sentence, times=tuple(cron.preview(after, count)))


def preview_event(text: str) -> EventPreview:
    """Returns the canonical form, the topic, the arguments and the warnings of an event signature.

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
    except TypeError as error:
        raise InvalidArgument(str(error)) from None
