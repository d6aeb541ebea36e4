"""Flows that check a signed envelope against each rule and send it to its endpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain_secured.account_flows import verify
from svcnb.client.chain_secured.models import Sent, Verdict
from svcnb.client.errors import InvalidArgument, NotConfirmed, SigningError, SvcnbError
from svcnb.client.listing import Listing
from svcnb.client.resources.reading import nothing
from svcnb.client.secret import Secret
from svcnb.errors import InvalidType
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S, MAX_SIGNATURE_BYTES, MAX_TYPED_DATA_BYTES
from svcnb.protocol.typed_data import Flow as Purpose, canonical_types, flow_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from svcnb.client.signing import SignedEnvelope

RULES: Final = (
    f"typed_data has at most {MAX_TYPED_DATA_BYTES} bytes",
    f"signature has at most {MAX_SIGNATURE_BYTES} bytes",
    "the wallet in message.address signed, with its key or through its contract (ERC-1271)",
    "the contract wallet, if there is one, is deployed on this chain",
    "domain.chainId is the chain id of the node",
    "primaryType is the type of the endpoint",
    f"issuedAt is within {ISSUED_AT_WINDOW_S} seconds of the server's time",
    "types has the canonical form, with the fields in the canonical order",
)
"""Conditions from docs/service/signatures.md#rules-of-a-signature, in the order of the results of `check`.

The order and the numbers differ from those on the page.
"""

_PATHS: Final = {
    Purpose.CREATE_WALLET: "/create_wallet_with_signature",
    Purpose.ADD_USAGE_API_KEY: "/add_usage_api_key_with_signature",
}


def check(chain: ChainAccess, typed_data: dict[str, Any], signature: str, flow: str | None) -> Flow[Listing[Verdict]]:
    """Checks an envelope against every condition in `RULES`, even if the envelope violates one of the conditions.

    Source: docs/service/signatures.md#rules-of-a-signature.
    """
    told = typed_data.get("primaryType") if flow is None else flow
    try:
        purpose = flow_of(str(told))
    except MalformedValue as error:
        raise InvalidArgument(error.message, hint=error.hint) from None
    node = yield from chain.node()
    now = yield from chain.time()
    size = len(json.dumps(typed_data, separators=(",", ":"), ensure_ascii=False).encode())
    chain_id = typed_data.get("domain", {}).get("chainId")
    issued_at = _number(typed_data.get("message", {}).get("issuedAt"))
    age = None if issued_at is None else now - issued_at
    found = [
        (size <= MAX_TYPED_DATA_BYTES, f"{size} bytes"),
        _signature_size(signature),
        *(yield from _signed(chain, typed_data, signature)),
        _compared(chain_id, _number(chain_id) == node.chain_id, f"the chain id of the node is {node.chain_id}"),
        _compared(
            typed_data.get("primaryType"),
            typed_data.get("primaryType") == purpose,
            f"the endpoint requires {purpose.value}",
        ),
        (age is not None and abs(age) <= ISSUED_AT_WINDOW_S, _age(age)),
        (typed_data.get("types") == canonical_types(purpose), purpose.type_string),
    ]
    return Listing(
        [
            Verdict(rule=number, what=what, holds=holds, detail=detail)
            for number, (what, (holds, detail)) in enumerate(zip(RULES, found, strict=True), 1)
        ],
        of="rules",
        kind=Verdict,
    )


def send(envelope: SignedEnvelope, *, confirm: bool) -> Flow[Sent]:
    """Sends a signed envelope to the endpoint of its flow.

    Raises:
        NotConfirmed: The envelope converts an account, and ``confirm`` is not True.
    """
    if not hasattr(envelope, "as_request"):
        raise InvalidType(
            f"expected a SignedEnvelope, got {type(envelope).__name__}",
            hint="Pass the result of svc.chain_secured.sign(...).",
        )
    flow, body = envelope.flow, envelope.as_request()
    if flow is Purpose.BILLING_AUTH:
        return (yield from _read_balance(envelope))
    if flow is Purpose.CONVERT_ACCOUNT:
        return (yield from _convert(envelope, body, confirm=confirm))

    def parse(answer: Any, _headers: Answer) -> Sent:
        secret = answer.get("usage_api_key")
        return Sent(
            flow=flow.value,
            address=envelope.address,
            wallet_address=answer["wallet_address"],
            derivation_path=answer["derivation_path"],
            usage_api_key=None if secret is None else Secret(secret),
        )

    return (
        yield from ask(
            Call(
                "POST",
                _PATHS[flow],
                parse,
                body,
                key=False,
                in_doubt=(
                    "Sign again. The service may have created a wallet or key, which is not part of any account and "
                    "has no permissions."
                ),
            )
        )
    )


def _read_balance(envelope: SignedEnvelope) -> Flow[Sent]:
    headers = envelope.as_headers()
    told = yield from ask(
        Call("GET", "/billing/balance", lambda found, _: found, key=False, headers=headers, timeout_class="read")
    )
    return Sent(flow=envelope.flow.value, address=envelope.address, balance_display=str(told["balance_display"]))


def _convert(envelope: SignedEnvelope, body: Mapping[str, Any], *, confirm: bool) -> Flow[Sent]:
    if not confirm:
        raise NotConfirmed(
            f"this call transfers the account of this client's key to {envelope.address} irreversibly",
            consequences=(
                "The account cannot return to API mode, and the account key can no longer make changes.",
                "If this wallet is lost, the account is lost.",
            ),
            hint="To confirm, call svc.chain_secured.send(signed, confirm=True).",
        )
    yield from ask(
        Call(
            "POST",
            "/convert_to_chain_secured_account",
            nothing,
            {"new_admin_wallet_address": envelope.address, **body},
            in_doubt="Call svc.chain_secured.open(owner) to check whether the service converted the account.",
        )
    )
    return Sent(flow=envelope.flow.value, address=envelope.address)


def _signed(
    chain: ChainAccess, typed_data: dict[str, Any], signature: str
) -> Flow[tuple[tuple[bool, str], tuple[bool | None, str]]]:
    from svcnb.client.signing import recover

    claimed = str(typed_data.get("message", {}).get("address"))
    try:
        recovered = recover(typed_data, signature)
    except SigningError as error:
        recovered = None
        told = error.message
    else:
        told = f"the recovered address is {recovered}"
    if recovered is not None and recovered.lower() == claimed.lower():
        return (True, told), (None, "a key created the signature, so no contract was called")
    try:
        code = yield from chain.rpc("eth_getCode", claimed, "latest")
        accepted = yield from verify(chain, typed_data, signature, claimed)
    except SvcnbError as error:
        return (False, told), (False, error.message)
    if code in ("0x", ""):
        return (False, f"{told}, not {claimed}"), (False, f"there is no contract at {claimed}")
    word = "accepts" if accepted else "rejects"
    return (accepted, f"the contract at {claimed} {word} the signature"), (True, f"there is a contract at {claimed}")


def _signature_size(signature: str) -> tuple[bool, str]:
    digits = signature.strip().removeprefix("0x")
    return len(digits) <= 2 * MAX_SIGNATURE_BYTES, f"{len(digits) // 2} bytes"


def _compared(found: object, holds: bool, otherwise: str) -> tuple[bool, str]:  # noqa: FBT001 - a value, no switch
    return holds, str(found) if holds else f"{found}, but {otherwise}"


def _number(value: object) -> int | None:
    try:
        return int(str(value), 0)
    except ValueError:
        return None


def _age(age: int | None) -> str:
    if age is None:
        return "issuedAt is not a number"
    return f"{abs(age)} second{'' if abs(age) == 1 else 's'} {'before' if age >= 0 else 'after'} the server's time"
