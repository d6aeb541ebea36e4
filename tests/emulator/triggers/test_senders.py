"""Signatures of the SDKs of webhook senders, which actions verify. The service must not change any part of a post.

Each SDK is the sender's own package. constraints.txt pins the versions of Python packages, and widgets/deno.lock pins
that of GitHub's package.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain]

SECRET = "the secret of the sender"
AT = 1_900_000_000
ORDER = json.dumps({"order": 7, "price": 1.5, "note": "grüße 😀\r\n"}, ensure_ascii=False)
TOOLS = """
const utf8 = (text) => new TextEncoder().encode(text);
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const hex = (bytes) => ethers.utils.hexlify(new Uint8Array(bytes)).slice(2);
async function hmac(hash, secret, text) {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
  return await crypto.subtle.sign("HMAC", key, utf8(text));
}
const one = (headers, name) => headers[name][0];
"""


def slack(body: str) -> dict[str, str]:
    signature = pytest.importorskip("slack_sdk.signature")
    signed = signature.SignatureVerifier(SECRET).generate_signature(timestamp=str(AT), body=body)
    return {"X-Slack-Request-Timestamp": str(AT), "X-Slack-Signature": signed}


def standard_webhooks(body: str) -> dict[str, str]:
    sdk = pytest.importorskip("standardwebhooks")
    signer = sdk.Webhook(base64.b64encode(SECRET.encode()).decode())
    signed = signer.sign("msg_1", datetime.fromtimestamp(AT, UTC), body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(AT), "webhook-signature": signed}


def stripe(body: str) -> dict[str, str]:
    sdk = pytest.importorskip("stripe")
    signed = sdk.WebhookSignature._compute_signature(f"{AT}.{body}", SECRET)
    header = f"t={AT},v1={signed}"
    assert sdk.WebhookSignature.verify_header(body, header, SECRET)
    return {"Stripe-Signature": header}


CALL = {"CallSid": "CA1", "From": "+4712345678", "Digits": "12 3&4"}
TWILIO_URL = "https://example.org/webhook"


def twilio(_body: str) -> dict[str, str]:
    validator = pytest.importorskip("twilio.request_validator").RequestValidator(SECRET)
    return {
        "X-Twilio-Signature": validator.compute_signature(TWILIO_URL, CALL),
        "Content-Type": "application/x-www-form-urlencoded",
    }


SENDERS: dict[str, tuple[Callable[[str], dict[str, str]] | None, str, str]] = {
    "github": (
        None,
        ORDER,
        """const signed = "sha256=" + hex(await hmac("SHA-256", utf8(SECRET), event_raw));
        return signed === one(headers, "x-hub-signature-256");""",
    ),
    "slack": (
        slack,
        ORDER,
        """const text = `v0:${one(headers, "x-slack-request-timestamp")}:${event_raw}`;
        return "v0=" + hex(await hmac("SHA-256", utf8(SECRET), text)) === one(headers, "x-slack-signature");""",
    ),
    "standard webhooks": (
        standard_webhooks,
        ORDER,
        """const text = `${one(headers, "webhook-id")}.${one(headers, "webhook-timestamp")}.${event_raw}`;
        return "v1," + base64(await hmac("SHA-256", utf8(SECRET), text)) === one(headers, "webhook-signature");""",
    ),
    "stripe": (
        stripe,
        ORDER,
        """const sent = Object.fromEntries(one(headers, "stripe-signature").split(",").map((part) => part.split("=")));
        return hex(await hmac("SHA-256", utf8(SECRET), `${sent.t}.${event_raw}`)) === sent.v1;""",
    ),
    "twilio": (
        twilio,
        urlencode(CALL),
        """const sorted = [...new URLSearchParams(event_raw)].sort(([a], [b]) => (a < b ? -1 : 1));
        const text = URL_SIGNED + sorted.map(([name, value]) => name + value).join("");
        return base64(await hmac("SHA-1", utf8(SECRET), text)) === one(headers, "x-twilio-signature");""",
    ),
}


@pytest.fixture
def hooks(emulator: Any) -> Iterator[Any]:
    account = emulator.client().accounts.create("senders")
    with emulator.client(api_key=account.api_key) as svc, emulator.triggers() as triggers:

        def make(verify: str) -> Callable[[str, dict[str, str]], Any]:
            code = f"""{TOOLS}const SECRET = {json.dumps(SECRET)}, URL_SIGNED = {json.dumps(TWILIO_URL)};
            async function main({{ event_raw, headers }}) {{ {verify} }}"""
            hook = triggers.create_for(svc, code, name="sender")

            def post(body: str, headers: dict[str, str]) -> Any:
                url = f"{emulator.triggers_url}/webhook/{hook.id}"
                sent = {"Content-Type": "application/json"} | headers
                answer = httpx.post(url, content=body.encode(), headers=sent, trust_env=False, timeout=60)
                assert answer.status_code == 202, answer.text
                run = triggers.wait_for_run(hook, answer.json()["run_id"])
                assert run.ok, run.error
                return run.result

            return post

        yield make


# The default tier uses the packages that the extra `dev` installs.
LARGE = {"github", "stripe", "twilio"}


@pytest.mark.parametrize(
    "sender", [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in SENDERS]
)
def test_an_action_accepts_only_the_signature_of_the_senders_sdk(
    hooks: Any, sender: str, request: pytest.FixtureRequest
) -> None:
    sign, body, verify = SENDERS[sender]
    if sign is None:
        npm = request.getfixturevalue("npm")
        headers = {"X-Hub-Signature-256": npm({"github": {"secret": SECRET, "body": body}})}
    else:
        headers = sign(body)
    post = hooks(verify)
    assert post(body, headers) is True
    assert post(body.replace("7", "8", 1), headers) is False
