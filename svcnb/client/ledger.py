"""Detector of calls that change or return an account's credit, for the local record.

Source: docs/service/http.md#lists, docs/service/billing.md#prices.
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
"""Management calls that cost `MANAGEMENT_COST_CENTS` if they succeed."""

BALANCE_PATH: Final = "/billing/balance"


def money_of(call: Call[Any], answer: Answer, result: object) -> Noted | None:
    """Returns the fee, payment or balance of a successful call, or None if the call has none.

    Args:
        call: The call.
        answer: Response of the service.
        result: Parsed value of the response.
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
