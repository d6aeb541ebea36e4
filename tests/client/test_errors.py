from __future__ import annotations

import inspect
import json
import pickle

import httpx
import pytest

from svcnb.client import errors

KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="
KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.SvcnbError)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_an_explanation_and_can_be_pickled(kind) -> None:
    first_line = (inspect.getdoc(kind) or "").partition("\n")[0]
    assert first_line.endswith((".", ":"))
    error = kind("what was seen", hint="what to do <next>")
    error.request_id = "abc"
    error.add_note("a note")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is kind
    assert (str(again), again.message, again.hint, again.request_id) == (str(error), error.message, error.hint, "abc")
    assert again.__notes__ == ["a note"]
    assert "&lt;next&gt;" in error._repr_html_()


def test_pickling_keeps_the_attributes_of_an_error() -> None:
    error = errors.ActionError("boom", name="TypeError", line=3, stage="run", cid="Qm", stack="at main")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (again.name, again.line, again.stage, again.cid, again.stack) == ("TypeError", 3, "run", "Qm", "at main")
    chain = errors.ChainError("refused", name="AccountAlreadyExists", arguments=(1,))
    assert pickle.loads(pickle.dumps(chain)).arguments == (1,)  # noqa: S301 - our own bytes


# The table of docs/service/http.md#errors.
@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, errors.BadRequest, "bad_request"),
        (401, errors.Unauthorized, "unauthorized"),
        (402, errors.OutOfCredit, "payment_required"),
        (403, errors.Forbidden, "forbidden"),
        (404, errors.NotFound, "not_found"),
        (413, errors.PayloadTooLarge, "payload_too_large"),
        (422, errors.UnprocessableEntity, "unprocessable_entity"),
        (429, errors.RateLimited, "too_many_requests"),
        (500, errors.InternalError, "internal_error"),
        (503, errors.Unavailable, "service_unavailable"),
        (418, errors.ServiceError, "error"),
    ],
)
@pytest.mark.parametrize("shape", ["object", "text", "empty"])
def test_both_formats_of_error_bodies_raise_the_class_of_their_status(scripted, status, kind, code, shape) -> None:
    bodies = {
        "object": {"error": code, "message": "the message", "fix": "the fix", "docs_url": "https://docs"},
        "text": "the message",
    }
    content = json.dumps(bodies[shape]).encode() if shape in bodies else b""
    svc = scripted(lambda _: httpx.Response(status, content=content, headers={"X-Request-Id": "r-1"}))
    with pytest.raises(kind) as caught:
        svc.billing.balance()
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.request_id) == (status, code, "r-1")
    assert error.hint
    assert "r-1" not in str(error)
    assert error.structured is (shape == "object")
    if shape != "empty":
        assert error.message == "the message"
    if shape == "object":
        assert (error.fix, error.docs_url) == ("the fix", "https://docs")
        assert ("Next step: the fix" in str(error)) == (kind not in {errors.Unauthorized, errors.OutOfCredit})


def test_an_html_page_raises_an_error_with_advice_about_the_address(scripted) -> None:
    for status in (200, 404, 502):
        svc = scripted(lambda _, status=status: httpx.Response(status, html="<html>hello</html>"))
        with pytest.raises(errors.NotTheApi) as caught:
            svc.wallets.list()
        assert "/core/v1/list_wallets" in str(caught.value)
        assert "base_url" in caught.value.hint


def test_a_redirect_raises_an_error(scripted) -> None:
    svc = scripted(lambda _: httpx.Response(301, headers={"Location": "https://elsewhere/core/v1/list_wallets"}))
    with pytest.raises(errors.NotTheApi) as caught:
        svc.wallets.list()
    assert "https://elsewhere" in caught.value.hint


@pytest.mark.parametrize("kind", [errors.Unauthorized, errors.OutOfCredit])
def test_the_hint_is_a_call_of_this_client_not_an_http_request(kind) -> None:
    error = kind("no", status=401, fix="Send a header.")
    assert f"Next step: {error.hint}" in str(error)
    assert "svc." in error._repr_html_()
    assert error.fix == "Send a header."


def test_the_hint_of_forbidden_depends_on_the_operation(scripted) -> None:
    svc = scripted(lambda _: httpx.Response(403, json="Permission denied"))
    with pytest.raises(errors.Forbidden) as running:
        svc.run("const main = () => 1")
    with pytest.raises(errors.Forbidden) as managing:
        svc.wallets.create()
    assert "execute_in_groups" in running.value.hint
    for cause in ("lack the permission", "have expired", "ChainSecured"):
        assert cause in managing.value.hint
    assert "svc.chain_secured.open(owner)" in managing.value.hint


def test_the_hint_for_an_expired_key_says_how_to_renew_it(scripted) -> None:
    said = (
        "the API key has expired, so the key is not authorized to execute action Qm (hashed CID 1): use another key, "
        "or renew the key with update_usage_api_key"
    )
    svc = scripted(lambda _: httpx.Response(403, json=said))
    with pytest.raises(errors.Forbidden) as caught:
        svc.run("const main = () => 1")
    assert caught.value.hint == errors.EXPIRED_HINT
    assert "execute_in_groups" not in caught.value.hint
    assert "svc.usage_keys.update(key)" in caught.value.hint


@pytest.mark.parametrize("body", [b"", b"{", b'{"wallet_address": 5}', b"[]", b"null", b'"text"', b"\xff\xfe"])
def test_an_unexpected_response_raises_not_the_api(scripted, body: bytes) -> None:
    svc = scripted(lambda _: httpx.Response(200, content=body))
    with pytest.raises(errors.NotTheApi):
        svc.wallets.create()


def test_an_error_does_not_contain_a_key_that_the_service_repeats(scripted) -> None:
    body = {"error": "forbidden", "message": f"key {KEY} is bad", "fix": f"drop {KEY}"}
    svc = scripted(lambda _: httpx.Response(403, json=body), api_key=KEY)
    with pytest.raises(errors.Forbidden) as caught:
        svc.wallets.list()
    error = caught.value
    assert KEY not in str(error) + repr(error) + repr(error.__dict__) + error._repr_html_()
    assert KEY.encode() not in pickle.dumps(error)


TIME = "function exceeded the maximum runtime of 900000 ms and was terminated"
MEMORY = "function exceeded the maximum memory of 128 MB and was terminated"
THROWN = """Internal server error: Uncaught (in promise) TypeError: x is not a function
    at helper (<user_provided_script>:7:12)
    at main (<user_provided_script>:3:9)"""


# The texts are those of docs/service/runtime.md#errors-of-a-run.
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (THROWN, ("run", "TypeError", "x is not a function", 7)),
        ("Internal server error: Uncaught (in promise) Error: boom", ("run", "Error", "boom", None)),
        (
            "Internal server error: Uncaught SyntaxError: Unexpected token '}'\n    at <user_provided_script>:2:1",
            ("compile", "SyntaxError", "Unexpected token '}'", 2),
        ),
        (
            "Uncaught (in promise) ReferenceError: main is not defined",
            ("run", "ReferenceError", "main is not defined", None),
        ),
        (f"Internal server error: {TIME}", ("limit", "", TIME, None)),
        (f"Internal server error: {MEMORY}", ("limit", "", MEMORY, None)),
        ("Uncaught (in promise) just a text", ("run", "", "just a text", None)),
        ("Uncaught (in promise) MyError: mine: with colon", ("run", "MyError", "mine: with colon", None)),
        ("", ("run", "", "the service or the action failed", None)),
    ],
)
def test_an_action_error_contains_stage_name_message_and_line(scripted, text, told) -> None:
    svc = scripted(lambda _: httpx.Response(500, json=text, headers={"X-Request-Id": "r-2"}))
    with pytest.raises(errors.ActionError) as caught:
        svc.run("const main = () => 1")
    error = caught.value
    assert (error.stage, error.name, error.message, error.line) == told
    assert error.request_id == "r-2"
    assert error.cid.startswith("Qm")


def test_the_error_for_used_up_credit_says_how_to_add_credit(scripted) -> None:
    text = "Internal server error: Your function ran out of funds and was terminated."
    svc = scripted(lambda _: httpx.Response(500, json=text))
    with pytest.raises(errors.ActionError, match="ran out of funds") as caught:
        svc.run("const main = () => 1")
    assert caught.value.stage == "limit"
    assert "svc.billing.top_up(500)" in caught.value.hint


def test_a_failure_of_the_service_is_not_an_action_error(scripted) -> None:
    body = {"error": "internal_error", "message": "the disk is full", "fix": "", "docs_url": ""}
    svc = scripted(lambda _: httpx.Response(500, json=body))
    with pytest.raises(errors.InternalError, match="the disk is full"):
        svc.run("const main = () => 1")


def test_an_action_error_with_a_lone_surrogate_can_be_printed_and_recorded(scripted) -> None:
    """JSON can escape characters that UTF-8 cannot encode."""
    answer = httpx.Response(500, content=b'"Internal server error: Uncaught Error: half \\ud83d\\n    at main"')
    with scripted(lambda _: answer) as svc, pytest.raises(errors.ActionError) as raised:
        svc.run("function main() {}")
    assert "half \ufffd" in str(raised.value)
    assert str(raised.value).encode()
    assert raised.value.stack.encode()
