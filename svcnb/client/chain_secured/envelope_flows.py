"""Checks signed envelopes against the rules of the service, and sends signed envelopes to the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain_secured.account_flows import send_conversion, verify
from svcnb.client.chain_secured.mint import send_creation
from svcnb.client.chain_secured.models import Sent, Verdict
from svcnb.client.errors import NotConfirmed, SigningError, SvcnbError
from svcnb.client.listing import Listing
from svcnb.client.secret import Secret
from svcnb.errors import InvalidType
from svcnb.protocol.envelope_rules import RULES, EnvelopeRefused, broken_rules, signature_bytes
from svcnb.protocol.typed_data import Flow as Purpose, flow_of

if TYPE_CHECKING:
    from svcnb.client.signing import SignedEnvelope


def check(chain: ChainAccess, typed_data: dict[str, Any], signature: str, flow: str | None) -> Flow[Listing[Verdict]]:
    """Checks a signed envelope against the service's eight rules, and returns one result for each rule.

    Source: docs/service/signatures.md#rules-of-a-signature.
    """
    purpose = flow_of(str(typed_data.get("primaryType") if flow is None else flow))
    node = yield from chain.node()
    now = yield from chain.time()
    broken = broken_rules(
        typed_data, flow=purpose, chain_id=node.chain_id, now_s=now, vocabulary=chain.config.vocabulary
    )
    signed = yield from _signed(chain, typed_data, signature)
    values = {4: purpose.value, 5: f"chain {node.chain_id}", 6: purpose.type_string}
    results = [
        (rule not in broken, broken[rule].message if rule in broken else values.get(rule, ""))
        for rule in range(1, len(RULES))
    ]
    return Listing(
        [
            Verdict(rule=number, what=what, holds=holds, detail=detail)
            for number, (what, (holds, detail)) in enumerate(zip(RULES, [*results, signed], strict=True), 1)
        ],
        of="rules",
        kind=Verdict,
    )


def send(envelope: SignedEnvelope, *, confirm: bool) -> Flow[Sent]:
    """Sends a signed envelope to the endpoint of its flow, and returns the service's response.

    Raises:
        NotConfirmed: The envelope converts an account, and ``confirm`` is not True.
    """
    if not hasattr(envelope, "as_request"):
        raise InvalidType(
            f"expected a SignedEnvelope, got {type(envelope).__name__}",
            hint="Pass the result of svc.chain_secured.sign(owner, flow).",
        )
    flow = envelope.flow
    if flow is Purpose.BILLING_AUTH:
        return (yield from _read_balance(envelope))
    if flow is Purpose.CONVERT_ACCOUNT:
        return (yield from _convert(envelope, confirm=confirm))

    def parse(answer: Any, _headers: Answer) -> Sent:
        secret = answer.get("usage_api_key")
        return Sent(
            flow=flow.value,
            address=envelope.address,
            wallet_address=answer["wallet_address"],
            derivation_path=answer["derivation_path"],
            usage_api_key=None if secret is None else Secret(secret),
        )

    return (yield from send_creation(envelope, parse, "Sign again."))


def _read_balance(envelope: SignedEnvelope) -> Flow[Sent]:
    headers = envelope.as_headers()
    told = yield from ask(
        Call("GET", "/billing/balance", lambda found, _: found, key=False, headers=headers, timeout_class="read")
    )
    return Sent(flow=envelope.flow.value, address=envelope.address, balance_display=str(told["balance_display"]))


def _convert(envelope: SignedEnvelope, *, confirm: bool) -> Flow[Sent]:
    if not confirm:
        raise NotConfirmed(
            f"this call requires confirm=True, because it transfers the account of this client's key to "
            f"{envelope.address} irreversibly",
            consequences=(
                "The account cannot return to API mode, and the account key can no longer make changes.",
                "If this wallet is lost, the account is lost.",
            ),
            hint="To confirm, call svc.chain_secured.send(signed, confirm=True).",
        )
    yield from send_conversion(envelope)
    return Sent(flow=envelope.flow.value, address=envelope.address)


def _signed(chain: ChainAccess, typed_data: dict[str, Any], signature: str) -> Flow[tuple[bool, str]]:
    from svcnb.client.signing import recover

    try:
        signature_bytes(signature)
    except EnvelopeRefused as refused:
        return False, refused.message
    message = typed_data.get("message")
    claimed = str(message.get("address") if isinstance(message, dict) else None)
    try:
        recovered = recover(typed_data, signature)
    except SigningError as error:
        told = error.message
    else:
        told = f"the recovered address is {recovered}"
        if recovered.lower() == claimed.lower():
            return True, told
        told += f", not {claimed}"
    try:
        code = yield from chain.rpc("eth_getCode", claimed, "latest")
        accepted = yield from verify(chain, typed_data, signature, claimed)
    except SvcnbError as error:
        return False, f"{told}; {error.message}"
    if code in ("0x", ""):
        return False, f"{told}; there is no contract at {claimed}"
    return accepted, f"the contract at {claimed} {'accepts' if accepted else 'rejects'} the signature"
