"""Detection of calls that change or show an account's credit, for the local record.

Source: specification 4.2 and 8.
"""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.calls import Answer, Call, Noted
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS

METERED_PATHS: Final = frozenset(
    {
        "/add_action", "/add_action_to_group", "/add_group", "/add_pkp_to_group", "/add_usage_api_key",
        "/create_wallet", "/delete_action", "/remove_action_from_group", "/remove_group", "/remove_pkp_from_group",
        "/remove_usage_api_key", "/update_action_metadata", "/update_group", "/update_usage_api_key",
        "/update_usage_api_key_metadata",
    }
)  # fmt: skip
"""Management calls that cost `MANAGEMENT_COST_CENTS` when they succeed."""

BALANCE_PATH: Final = "/billing/balance"


def money_of(call: Call[Any], answer: Answer, result: object) -> Noted | None:
    """Returns what a successful call changes or shows of the account's credit; None for all other calls.

    Args:
        call: The call.
        answer: The service's response.
        result: The value that was read from the response.
    """
    if not call.key or not isinstance(call.path, str):
        return None
    reference = answer.headers.get("x-request-id", "")
    if call.path in METERED_PATHS:
        created = str(getattr(result, "api_key_hash", "")) if call.path == "/add_usage_api_key" else ""
        name = call.path.removeprefix("/")
        return Noted("fee", MANAGEMENT_COST_CENTS, name, created, reference, answer.sent_at)
    if call.path == BALANCE_PATH and isinstance(cents := getattr(result, "balance_cents", None), int):
        return Noted("balance", -cents, "balance", reference=reference, at=answer.sent_at)
    return None
