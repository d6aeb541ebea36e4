"""Validation of triggers at creation and at every change.

Source: docs/service/triggers.md#creation-and-changes-of-a-trigger, docs/service/triggers.md#sources-of-runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

from svcnb.emulator.http.mismatch import told
from svcnb.emulator.triggers.errors import Refused, bad
from svcnb.protocol.cron import Cron
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.event_signature import Event
from svcnb.protocol.hashes import normal_address
from svcnb.protocol.limits import MAX_TOPIC_FILTERS
from svcnb.protocol.wire.triggers import CHAIN_IDS, ChainName

_TOPIC: Final = re.compile(r"0x[0-9a-fA-F]{64}\Z")
_NUMBER: Final = re.compile(r"(?:0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})\Z")
_MAX_BLOCK: Final = 2**63 - 1
_FIELDS: Final = (
    "chain", "contract_address", "address", "event_signature", "indexed", "start_block", "topic_filters"
)  # fmt: skip
_SHOWN_CHARS: Final = 40

TopicFilter = str | list[str] | None


@dataclass(frozen=True)
class ChainEventConfig:
    """Validated settings of a chain_event trigger.

    Attributes:
        chain: Name of the watched chain, which selects one of the emulator's connections to chains.
        address: Address of the contract that emits the event, in lowercase with the prefix 0x.
        event: Parsed signature of the event, which decodes logs.
        signature: Signature of the event, as text from the trigger's settings.
        topics: topic0 and the topic filters, in the format of ``eth_getLogs``.
        start_block: The first block, or None to start `CHAIN_EVENT_LOOK_BACK_BLOCKS` before the newest block.
    """

    chain: ChainName
    address: str
    event: Event
    signature: str
    topics: list[TopicFilter]
    start_block: int | None


def check(name: str, action_code: str, usage_api_key: str | None, default_params: object, config: object) -> None:
    """Checks the fields that all kinds of triggers have.

    Args:
        name: Name that the user gave the trigger. It must not be empty or only whitespace.
        action_code: Source of the action, which must not be empty or only whitespace.
        usage_api_key: The usage key, or None if a change keeps the stored key.
        default_params: The default params, which must be a JSON object.
        config: The settings, which must be a JSON object.

    Raises:
        Refused: 400, with the code of the violated rule.
    """
    if not name.strip():
        raise bad("name_required", "'name' is empty or contains only whitespace: send a name for the trigger")
    if not action_code.strip():
        raise bad(
            "action_code_required", "action_code is empty or contains only whitespace: send the source of the action"
        )
    if usage_api_key is not None and not usage_api_key.strip():
        raise bad(
            "usage_api_key_required",
            "usage_api_key is empty or contains only whitespace: send a key that can execute the action",
        )
    if not isinstance(default_params, dict):
        raise bad("default_params_must_be_object", f"default_params must be a JSON object, not {told(default_params)}")
    if not isinstance(config, dict):
        raise bad("config_must_be_object", f"'config' must be a JSON object, not {told(config)}")


def check_config(kind: str, config: dict[str, Any]) -> None:
    """Checks the settings of a schedule or chain_event trigger. The settings of webhook triggers have no rules.

    Raises:
        Refused: 400, with the code of the violated rule.
    """
    if kind == "schedule":
        schedule(config)
    elif kind == "chain_event":
        chain_event(config)


def schedule(config: dict[str, Any]) -> Cron:
    """Returns the parsed schedule from a trigger's settings.

    Raises:
        Refused: 400 ``cron_required`` if the schedule is missing, or ``invalid_cron`` if it cannot be parsed.
    """
    text = config.get("cron")
    if text is None or text == "":
        raise bad("cron_required", "config.cron is missing or empty: send a schedule, for example '*/5 * * * *'")
    if not isinstance(text, str):
        raise bad("invalid_cron", f"config.cron must be a string of five or six fields, not {told(text)}")
    try:
        return Cron(text)
    except MalformedValue as error:
        raise bad("invalid_cron", f"config.cron is invalid: {error.message}. {error.hint}") from None


def chain_event(config: dict[str, Any]) -> ChainEventConfig:
    """Returns the validated settings of a chain_event trigger.

    Raises:
        Refused: 400 ``invalid_chain_event_config`` if a field is unknown, missing or invalid.
    """
    if unknown := sorted(config.keys() - set(_FIELDS)):
        raise _invalid(
            f"the field {unknown[0][:_SHOWN_CHARS]!r} is unknown", f"The allowed fields are {', '.join(_FIELDS)}."
        )
    chain = config.get("chain")
    if not isinstance(chain, str) or chain.lower() not in CHAIN_IDS:
        raise _invalid(f"'chain' must be one of {', '.join(get_args(ChainName))}, not {told(chain)}")
    contract = _text("contract_address", config.get("contract_address", config.get("address")))
    signature = _text("event_signature", config.get("event_signature"))
    try:
        address = normal_address(contract)
        event = _event(signature, config.get("indexed"))
    except MalformedValue as error:
        raise _invalid(error.message, error.hint) from None
    return ChainEventConfig(
        chain=cast("ChainName", chain.lower()),
        address=address,
        event=event,
        signature=signature,
        topics=[event.topic0, *_filters(config.get("topic_filters"))],
        start_block=_block(config.get("start_block")),
    )


def _event(signature: str, indexed: object) -> Event:
    event = Event.parse(signature)
    if indexed is None:
        return event
    if not isinstance(indexed, list) or not all(type(place) is int for place in indexed):
        raise _invalid(
            f"'indexed' must be a list of the positions of the indexed arguments, counted from 0, not {told(indexed)}"
        )
    return event.with_indexed(indexed)


def _text(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise _invalid(f"{name} must be a string, not {told(given)}")
    return given


def _filters(given: object) -> list[TopicFilter]:
    if given is None:
        return []
    allowed = f"a list of at most {MAX_TOPIC_FILTERS} entries (for the topics after topic0)"
    if not isinstance(given, list):
        raise _invalid(f"topic_filters must be {allowed}, not {told(given)}")
    if len(given) > MAX_TOPIC_FILTERS:
        raise _invalid(f"topic_filters has {len(given)} entries, but must be {allowed}")
    return [_filter(entry) for entry in given]


def _filter(entry: object) -> TopicFilter:
    if entry is None:
        return None
    if isinstance(entry, list) and entry:
        return [_topic(topic) for topic in entry]
    return _topic(entry)


def _topic(topic: object) -> str:
    if not isinstance(topic, str) or not _TOPIC.match(topic):
        raise _invalid(
            "a topic filter must be 0x followed by 64 hex digits, a non-empty list of these, or null, not "
            f"{told(topic)}",
            "Pad an address on the left with 24 zeros.",
        )
    return topic.lower()


def _block(given: object) -> int | None:
    if given is None:
        return None
    number = -1
    if isinstance(given, int) and not isinstance(given, bool):
        number = given
    elif isinstance(given, str) and _NUMBER.match(given.strip()):
        number = int(given.strip(), 0) if given.strip()[:2].lower() == "0x" else int(given.strip())
    if not 0 <= number <= _MAX_BLOCK:
        raise _invalid(
            "start_block must be a block number from 0 to 2^63 - 1, as an integer, a decimal string or a 0x hex "
            f"string, not {told(given)}"
        )
    return number


def _invalid(message: str, fix: str = "") -> Refused:
    return bad("invalid_chain_event_config", f"config is invalid: {message}" + (f". {fix}" if fix else ""))
