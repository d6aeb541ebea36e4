"""Each kind of trigger with the real runtime and the real chain, only through the client."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from urllib.parse import urljoin

import httpx
import pytest

import svcnb
from svcnb import control_tokens

pytestmark = [pytest.mark.engine, pytest.mark.chain]

SECRET = "the sender's secret"
VERIFY = """
const SECRET = "the sender's secret";
function sha256Hmac(bytes) {
  return ethers.utils.computeHmac("sha256", ethers.utils.toUtf8Bytes(SECRET), bytes).slice(2);
}
async function main({ event, event_raw, event_raw_encoding, headers }) {
  const bytes = event_raw_encoding === "base64"
    ? ethers.utils.base64.decode(event_raw)
    : ethers.utils.toUtf8Bytes(event_raw);
  const sent = (headers["x-hub-signature-256"] || [""])[0];
  if (sent !== "sha256=" + sha256Hmac(bytes)) throw new Error("the signature does not fit");
  return { verified: true, event };
}
"""
ADD_ONE = "const main = ({ event }) => event.n + 1"
NOON = 1_900_065_600  # 2030-03-18 12:00:00 UTC


def signed(body: bytes) -> dict[str, str]:
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={digest}"}


@pytest.fixture
def svc(emulator):
    account = emulator.client().accounts.create("triggers")
    with emulator.client(api_key=account.api_key) as client:
        yield client


@pytest.fixture
def triggers(emulator):
    with emulator.triggers() as client:
        yield client


def test_a_signed_webhook_is_verified_over_the_exact_bytes(svc, triggers):
    hook = triggers.create_for(svc, VERIFY, name="orders")
    bodies = [
        (b'{"order": 7,\n  "price": 1.50}', "application/json"),
        ("grüße \U0001f600\r\n".encode(), "text/plain"),
        (bytes(range(256)), "application/octet-stream"),
    ]
    for body, content_type in bodies:
        taken = triggers.fire(hook, body, headers=signed(body) | {"Content-Type": content_type})
        run = triggers.wait_for_run(hook, taken)
        assert run.ok, run.error
        assert run.result["verified"] is True


def test_a_forged_webhook_fails_with_the_actions_error(start_emulator):
    with start_emulator(starter_credits=1_000, run_max_retries=0) as own, own.triggers() as triggers:
        account = own.client().accounts.create("triggers")
        hook = triggers.create_for(own.client(api_key=account.api_key), VERIFY, name="orders")
        run = triggers.wait_for_run(hook, triggers.fire(hook, b"paid: 1000", headers=signed(b"paid: 1")))
        assert not run.ok
        assert "the signature does not fit" in str(run.error)


def test_a_schedule_fires_when_the_clock_is_advanced(start_emulator):
    with start_emulator(starter_credits=1_000, clock=f"frozen@{NOON}") as own, own.triggers() as triggers:
        account = own.client().accounts.create("triggers")
        code = (
            "async function main({ source, scheduled_at, cron, city }) { return [source, scheduled_at, cron, city]; }"
        )
        daily = triggers.create_for(
            own.client(api_key=account.api_key),
            code,
            name="daily",
            kind="schedule",
            config={"cron": "30 12 * * *"},
            default_params={"city": "Oslo"},
        )
        own.clock.advance("29m")
        assert len(triggers.runs(daily)) == 0
        own.clock.advance("1m30s")
        assert triggers.wait_for_run(daily).result == ["schedule", "2030-03-18T12:30:00Z", "30 12 * * *", "Oslo"]
        own.clock.advance("2d")
        while len(triggers.runs(daily)) < 3 or not triggers.runs(daily)[0].ended:
            pass
        assert [run.input["scheduled_at"] for run in triggers.runs(daily)] == [
            "2030-03-20T12:30:00Z",
            "2030-03-19T12:30:00Z",
            "2030-03-18T12:30:00Z",
        ]


ANSWER = """
async function main({ event, rpc }) {
  const provider = new ethers.providers.JsonRpcProvider(rpc);
  const key = await Svc.Actions.getSvcActionPrivateKey();
  const wallet = new ethers.Wallet(key, provider);
  const sent = await wallet.sendTransaction({
    to: "0x00000000000000000000000000000000000a11ce", value: 1, data: event.transaction_hash,
  });
  await sent.wait();
  return { answered: event.decoded.arg1, hash: sent.hash, from: wallet.address };
}
"""


def transaction(rpc_url: str, identifier: str) -> dict[str, str]:
    """Returns a transaction as read from the chain."""
    question = {"jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionByHash", "params": [identifier]}
    return dict(httpx.post(rpc_url, json=question, trust_env=False, timeout=300).json()["result"])


def test_a_contract_event_runs_an_action_that_sends_a_transaction_back(start_emulator):
    action = svcnb.Action(ANSWER)
    with start_emulator(starter_credits=1_000, chain_event_scan_s=0.1) as own, own.triggers() as triggers:
        account = own.client().accounts.create("triggers")
        svc = own.client(api_key=account.api_key)
        watch = triggers.create_for(
            svc,
            action,
            name="watch",
            kind="chain_event",
            config={
                "chain": "base",
                "contract_address": own.contract_address,
                "event_signature": "ActionAdded(uint256 indexed accountApiKeyHash, uint256 indexed actionHash)",
            },
            default_params={"rpc": own.rpc_url},
        )
        address = svc.run(
            "async function main({ cid }) { return await Svc.Actions.getSvcActionWalletAddress({ ipfsId: cid }); }",
            cid=action.cid,
        ).response
        own.faucet(address)
        registered = svc.actions.register("async function main() { return 'seen'; }", name="seen")
        while not triggers.runs(watch):
            pass
        run = triggers.wait_for_run(watch)
        assert run.ok, run.error
        assert run.result["answered"] == registered.hashed_cid
        sent = transaction(own.rpc_url, run.result["hash"])
    assert (sent["from"], int(sent["value"], 16)) == (address, 1)
    assert sent["to"] == "0x00000000000000000000000000000000000a11ce"
    assert sent["input"] == run.input["event"]["transaction_hash"]
    assert sent["blockNumber"] is not None


def test_the_client_describes_schedules_and_events_without_a_request():
    preview = svcnb.TriggersClient.cron("0 9 * * MON", after=0)
    assert (preview.sentence, len(preview.times)) == ("At 09:00 on Monday (UTC)", 10)
    event = svcnb.TriggersClient.event("Transfer(address indexed from,address indexed to,uint256 value)")
    assert event.topic0 == "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert event.arguments == ("arg0 address indexed from", "arg1 address indexed to", "arg2 uint256 value")
    assert event.warnings == ()
    with pytest.raises(svcnb.InvalidArgument):
        svcnb.TriggersClient.cron("* * * * * *")
    with pytest.raises(svcnb.InvalidArgument):
        svcnb.TriggersClient.event("Transfer")


# --- sign-in and approval --------------------------------------------------------------------------------------------


class Browser:
    """Simple browser that stores cookies and submits forms."""

    def __init__(self, base_url: str) -> None:
        self.http = httpx.Client(base_url=base_url, trust_env=False, headers={"accept": "text/html"}, timeout=300)
        self.page, self.folder = "", "/agent/"

    def open(self, url: str) -> httpx.Response:
        answer = self.http.get(urljoin(self.folder, url), follow_redirects=True)
        self.page, self.folder = answer.text, answer.url.path
        return answer

    @property
    def hidden(self) -> dict[str, str]:
        """Returns the hidden fields of a form."""
        return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', self.page))

    def press(self, path: str, **typed: str) -> httpx.Response:
        return self.http.post(path, data=self.hidden | typed, headers={"origin": str(self.http.base_url).rstrip("/")})


@pytest.fixture
def browser(emulator):
    made = Browser(emulator.base_url)
    yield made
    made.http.close()


def test_a_token_works_once_its_page_was_approved_and_never_before(emulator, browser):
    with svcnb.TriggersClient(emulator.triggers_url) as client:
        assert client.who() is None
        with pytest.raises(svcnb.Unauthorized):
            client.list()
        opened = []

        def approve(url: str) -> None:
            opened.append(url)
            page = browser.open(url)
            assert page.headers["x-frame-options"] == "DENY"
            assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
            assert browser.press("/agent/authorize", label="my laptop").status_code == 200

        user = client.authorize(open_page=approve)
        assert opened == [f"{emulator.triggers_url}/agent/authorize?challenge={client.challenge}"]
        assert client.token.reveal() not in opened[0]
        assert user.email == "owner@localhost"
        assert client.authorize(open_page=approve) == user, "an approved token needs no page"
        assert client.tokens()[0].label == "my laptop"
        again = browser.open(opened[0])
        assert again.status_code == 200
        assert browser.press("/agent/authorize").status_code == 200, "approving twice is harmless"


def test_a_form_of_another_session_or_site_approves_nothing(emulator, browser):
    with svcnb.TriggersClient(emulator.triggers_url) as client:
        browser.open(client.approval_url)
        fields = {"challenge": client.challenge}
        forged = browser.http.post("/agent/authorize", data=fields | {"csrf": "0" * 64})
        elsewhere = browser.http.post("/agent/authorize", data=fields, headers={"origin": "http://evil.example"})
        stranger = httpx.post(f"{emulator.base_url}/agent/authorize", data=fields, trust_env=False, timeout=300)
        ada = Browser(emulator.base_url)
        ada.open(f"/agent/login?challenge={client.challenge}")
        token = control_tokens.find(emulator.base_url)
        assert token is not None
        ada.open(ada.press("/agent/login", email="ada@example.org", token=token.reveal()).headers["location"])
        of_another = browser.http.post("/agent/authorize", data=fields | {"csrf": ada.hidden["csrf"]})
        ada.http.close()
        refused = [forged.status_code, elsewhere.status_code, stranger.status_code, of_another.status_code]
        assert refused == [403, 403, 401, 403]
        assert stranger.json()["error"] == "unauthorized"
        assert client.who() is None


def test_the_session_cookie_is_for_the_pages_alone(emulator, browser):
    with svcnb.TriggersClient(emulator.triggers_url) as client:
        cookie = browser.open(client.approval_url).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/agent" in cookie
    assert browser.http.get("/api/me").status_code == 401


@pytest.mark.parametrize("challenge", ["", "short", "x" * 44, "<script>alert(1)</script>", "é" * 43])
def test_an_invalid_challenge_is_reported_without_its_text(browser, challenge):
    answer = browser.http.get("/agent/authorize", params={"challenge": challenge})
    assert answer.status_code == 400
    assert "<script" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("header", ["x-forwarded-prefix", "x-forwarded-context"])
@pytest.mark.parametrize(
    ("folder", "path"),
    [("/user/x/proxy/8080", "/user/x/proxy/8080/agent"), ("/user/x/", "/user/x/agent"), ("", "/agent")]
    + [(bad, "/agent") for bad in ("/a; Domain=example.org", "//example.org", "x", "/" + "a" * 300)],
)
def test_the_session_belongs_to_the_folder_that_a_proxy_names(browser, emulator, header, folder, path):
    with svcnb.TriggersClient(emulator.triggers_url) as client:
        url = f"/agent/authorize?challenge={client.challenge}"
        answer = browser.http.get(url, headers={header: folder} if folder else {})
    assert f"Path={path};" in answer.headers["set-cookie"]


def test_another_user_signs_in_with_the_control_token_and_sees_triggers_of_their_own(emulator, browser):
    token = control_tokens.find(emulator.base_url)
    assert token is not None
    with svcnb.TriggersClient(emulator.triggers_url) as client:
        browser.open(f"/agent/login?challenge={client.challenge}")
        landed = browser.press("/agent/login", email="Ada@Example.org", token=token.reveal())
        assert landed.status_code == 303
        page = browser.open(landed.headers["location"])
        assert "ada@example.org" in page.text
        browser.press("/agent/authorize")
        user = client.who()
        assert user is not None
        assert user.email == "ada@example.org"
        assert len(client.list()) == 0


@pytest.mark.parametrize("token", [{}, {"token": "a guess"}])
def test_a_local_program_cannot_sign_in_as_another_user(browser, token):
    """Learners who share an emulator are separate users. None of them can sign in as another."""
    for email in ("ada@workshop.local", "OWNER@localhost.org"):
        answer = browser.http.post("/agent/login", data={"email": email} | token)
        assert answer.status_code == 401
        assert "control_token" in answer.text
        assert "set-cookie" not in answer.headers
    assert "set-cookie" in browser.http.post("/agent/login", data={"email": "Owner@Localhost"}).headers


def test_signing_in_never_leads_to_another_site(browser):
    for target in ("http://evil.example/", "//evil.example", "/agent/authorize/../../evil", "/agent/authorize@evil"):
        answer = browser.http.post("/agent/login", data={"email": "owner@localhost", "next": target})
        assert answer.status_code < 400
        assert "evil" not in answer.headers.get("location", "")


def test_a_revoked_token_is_permanently_invalid(emulator):
    with emulator.triggers("first") as first, emulator.triggers("second") as second:
        mine = next(token for token in second.tokens() if token.label == "first" and token.revoked_at is None)
        second.revoke(mine)
        assert first.who() is None
        assert second.who() is not None
        emulator.approve_agent(first.challenge)
        assert first.who() is None, "approving does not bring a revoked token back"
        second.revoke(None)
        assert second.who() is None


def test_a_missing_approval_is_a_clear_error(emulator):
    with svcnb.TriggersClient(emulator.triggers_url) as client, pytest.raises(svcnb.TimedOut) as caught:
        client.authorize(timeout=0.5, open_page=lambda _url: None)
    assert client.approval_url in str(caught.value)


def test_a_token_never_shows_itself(emulator):
    with emulator.triggers() as client:
        token = client.token.reveal()
        shown = [repr(client), str(client.token), repr(client.tokens()), json.dumps(emulator.state())]
    assert not any(token in text for text in shown)


@pytest.mark.slow
def test_a_snapshot_restores_triggers_and_a_reset_deletes_them(start_emulator):
    with start_emulator(starter_credits=1_000) as own, own.triggers() as triggers:
        account = own.client().accounts.create("triggers")
        svc = own.client(api_key=account.api_key)
        hook = triggers.create_for(svc, "async function main({ event }) { return event; }", name="kept")
        triggers.wait_for_run(hook, triggers.fire(hook, "before"))
        own.snapshot("one run")
        triggers.delete(hook)
        own.restore("one run")
        assert [run.result for run in triggers.runs(hook)] == ["before"]
        assert triggers.wait_for_run(hook, triggers.fire(hook, "after")).result == "after"
        own.reset()
        assert triggers.who() is None
        with pytest.raises(svcnb.NotFound):
            triggers.fire(hook, "gone")


@pytest.mark.slow
def test_triggers_continue_after_a_restart(start_emulator, tmp_path):
    folder = {"state": str(tmp_path / "state"), "starter_credits": 1_000, "clock": f"frozen@{NOON}"}
    with start_emulator(**folder) as first, first.triggers() as triggers:
        account = first.client().accounts.create("triggers")
        code = "async function main({ scheduled_at, event }) { return scheduled_at || event; }"
        svc = first.client(api_key=account.api_key)
        hourly = triggers.create_for(svc, code, name="hourly", kind="schedule", config={"cron": "0 * * * *"})
        hook = triggers.create_for(svc, code, name="hook")
        token = triggers.token
        triggers.wait_for_run(hook, triggers.fire(hook, "one"))
    with (
        start_emulator(**(folder | {"clock": f"frozen@{NOON + 3 * 3600}"})) as second,
        svcnb.TriggersClient(second.triggers_url, token=token) as triggers,
    ):
        assert triggers.wait_for_run(hook, triggers.fire(hook, "two")).result == "two"
        assert [run.result for run in triggers.runs(hook)] == ["two", "one"]
        for missed in ("13:00", "14:00", "15:00"):
            while not triggers.runs(hourly) or missed not in triggers.wait_for_run(hourly).result:
                pass
            second.clock.advance("30s")
        assert [run.result[11:16] for run in triggers.runs(hourly)] == ["15:00", "14:00", "13:00"]


@pytest.mark.slow
async def test_the_asynchronous_client_does_the_same(emulator, svc):
    key = svc.usage_keys.create("hook", execute_in_groups=[svc.groups.create("hooks", actions=[ADD_ONE])])
    async with emulator.async_triggers("async") as triggers:
        hook = await triggers.webhook("hook", ADD_ONE, key)
        run = await triggers.wait_for_run(hook, await triggers.fire(hook, {"n": 1}))
        assert run.ok, run.error
        assert [each.id for each in await triggers.runs(hook)] == [run.id]
        assert not (await triggers.disable(hook)).enabled
        assert (await triggers.enable(hook)).enabled
        assert (await triggers.get(hook)).name == "hook"
        nightly = await triggers.schedule("nightly", ADD_ONE, key, cron="0 3 * * *")
        watch = await triggers.chain_event(
            "watch",
            ADD_ONE,
            key,
            chain="base",
            contract=emulator.contract_address,
            event="GroupAdded(uint256 indexed a)",
        )
        made = await triggers.create("plain", ADD_ONE, key, "webhook")
        assert {each.id for each in await triggers.list()} >= {hook.id, nightly.id, watch.id, made.id}
        for each in (hook, nightly, watch, made):
            await triggers.delete(each)
        assert not {each.id for each in await triggers.list()} & {hook.id, nightly.id, watch.id, made.id}
        assert await triggers.who() is not None
        mine = [token for token in await triggers.tokens() if token.label == "async"]
        await triggers.revoke(mine[0])
        with pytest.raises(svcnb.Unauthorized):
            await triggers.list()
