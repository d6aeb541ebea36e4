"""Parts of a webhook post that the service passes to the action, and posts that it rejects."""

from __future__ import annotations

import base64

import pytest

from svcnb.emulator.platform.store import Store
from svcnb.emulator.triggers.errors import Refused
from svcnb.emulator.triggers.webhooks import PostLimit, run_input, safe_headers
from svcnb.protocol.vocabulary import Vocabulary


def kept(*headers: tuple[str, str]) -> dict[str, list[str]]:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return safe_headers(raw, Vocabulary(processor="payco"))


@pytest.mark.parametrize(
    "name",
    [
        "content-type", "user-agent", "x-request-id", "x-forwarded-for", "x-forwarded-proto", "x-hub-signature",
        "x-hub-signature-256", "x-github-event", "x-github-delivery", "x-github-hook-id", "payco-signature",
        "x-slack-signature", "x-slack-request-timestamp", "x-webhook-signature", "x-signature", "webhook-signature",
        "svix-signature", "x-shopify-hmac-sha256", "X-Hub-Signature-256", "paypal-auth-algo", "paypal-cert-url",
        "paypal-transmission-id", "paypal-transmission-sig", "paypal-transmission-time", "plaid-verification",
        "x-twilio-email-event-webhook-timestamp", "x-hubspot-request-timestamp", "x-zm-request-timestamp",
        "x-trello-webhook", "x-qn-nonce", "x-qn-timestamp", "date",
    ],
)  # fmt: skip
def test_headers_that_verify_or_describe_a_post_are_kept(name):
    assert kept((name, "v")) == {name.lower(): ["v"]}


@pytest.mark.parametrize(
    "name",
    [
        "authorization", "Authorization", "cookie", "set-cookie", "x-api-key", "X-Api-Key", "proxy-authorization",
        "x-wallet-auth", "x-custom", "host", "accept", "referer", "x-gitlab-token",
    ],
)  # fmt: skip
def test_credentials_and_all_other_headers_are_removed(name):
    assert kept((name, "secret")) == {}


def test_a_header_sent_twice_keeps_both_values_in_order():
    assert kept(("x-signature", "a"), ("x-signature", "b")) == {"x-signature": ["a", "b"]}


def test_json_is_parsed_and_the_raw_text_is_exact():
    body = b'{ "a": 1.50,\n"b":"\xc3\xa9" }'
    given = run_input(body, "application/json; charset=utf-8", {})
    assert given["event"] == {"a": 1.5, "b": "é"}
    assert given["event_raw"].encode() == body
    assert (given["source"], given["event_raw_encoding"]) == ("webhook", "utf-8")


@pytest.mark.parametrize(
    "content_type", ["application/cloudevents+json", "APPLICATION/JSON", "application/vnd.api+json"]
)
def test_every_json_content_type_is_parsed(content_type):
    assert run_input(b"[1]", content_type, {})["event"] == [1]


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonx"])
def test_any_other_content_type_is_text(content_type):
    assert run_input(b'{"a":1}', content_type, {})["event"] == '{"a":1}'


@pytest.mark.parametrize("body", [bytes(range(256)), b"\xff", b"caf\xe9", b"\xed\xa0\x80"])
def test_bytes_that_are_not_utf_8_are_restored_exactly(body):
    given = run_input(body, "application/octet-stream", {})
    assert given["event_raw_encoding"] == "base64"
    assert base64.b64decode(given["event_raw"]) == body
    assert "\ufffd" in given["event"]


@pytest.mark.parametrize("body", [b"\x00\x01", b"\xef\xbb\xbfhi", b"", b"\r\n", "\U0001f600".encode()])
def test_text_keeps_control_characters_marks_and_line_ends(body):
    given = run_input(body, "text/plain", {})
    assert (given["event_raw_encoding"], given["event_raw"].encode(), given["event"].encode()) == ("utf-8", body, body)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nope", b"NaN", b"[Infinity]", b"1e999", b'"\xff"', b"[" * 100_000, b"1" * 10_000, b"\xef\xbb\xbf{}"],
)
def test_a_json_content_type_without_json_is_text(body):
    given = run_input(body, "application/json", {})
    assert given["event"] == body.decode("utf-8", "replace")


async def test_the_error_for_too_many_posts_says_when_to_try_again():
    store = Store()
    limit = PostLimit(1, "ip_rate_limited", "IP address", "--option", store)
    await limit.count("a", 0.0)
    with pytest.raises(Refused, match="the limit for each IP address is 1 requests within 60 s") as caught:
        await limit.count("a", 58.5)
    assert (caught.value.status, caught.value.code, caught.value.retry_after_s) == (429, "ip_rate_limited", 2)
    store.close()
