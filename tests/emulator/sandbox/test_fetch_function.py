# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Outbound requests of actions.

Source: docs/service/runtime.md#globals, docs/service/limits.md#limits-of-a-run; docs/service/conformance.md#runtime, item 44.
"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

FEWER = "Send fewer requests, or divide them among several executions."


@pytest.fixture
def web(room: Any, site: Any, open_network: Any) -> Any:
    """Runs an action whose parameter is the address of the test's web server."""

    def run(source: str, **limits: int) -> Any:
        return room.value(source, site.url, host=room.host(network=open_network("allow")), **limits)

    return run


def test_a_response_is_a_real_response(web: Any, site: Any):
    source = """const main = async (url) => {
      const r = await fetch(url + '/price');
      return [r instanceof Response, r.ok, r.status, r.statusText, r.url === url + '/price', r.redirected, r.type,
              r.headers.get('content-type'), r.bodyUsed, (await r.clone().json()).usd, await r.text(), r.bodyUsed];
    }"""
    assert web(source) == [
        True, True, 200, "OK", True, False, "basic", "application/json", False, 3141.59,
        '{"symbol":"ETH","usd":3141.59}', True,
    ]  # fmt: skip
    assert [entry[:2] for entry in site.seen] == [("GET", "/price")]


def test_bodies_and_headers_reach_the_server(web: Any, site: Any):
    source = """const main = async (url) => {
      const r = await fetch(new Request(url + '/echo', { method: 'PUT', headers: new Headers({ 'x-mine': 'yes' }), body: 'héllo' }));
      return r.json();
    }"""
    assert web(source) == {"method": "PUT", "body": "héllo"}
    headers = {name.lower(): value for name, value in site.seen[0][2].items()}
    assert headers["x-mine"] == "yes"
    assert headers["content-type"] == "text/plain;charset=UTF-8"


def test_bytes_arrive_unchanged(web: Any):
    source = "const main = async (url) => [...new Uint8Array(await (await fetch(url + '/bytes')).arrayBuffer())]"
    assert web(source) == list(range(256))


def test_a_large_body_arrives_whole(web: Any):
    assert web("const main = async (url) => (await (await fetch(url + '/large')).text()).length") == 2_000_000


@pytest.mark.parametrize(("path", "status"), [("/teapot", 418), ("/missing", 404), ("/nothing", 204)])
def test_an_error_status_is_a_response_and_not_an_exception(path: str, status: int, web: Any):
    assert web(
        f"const main = async (url) => {{ const r = await fetch(url + '{path}'); return [r.status, r.ok]; }}"
    ) == [
        status,
        status < 300,
    ]


def test_redirects_are_followed_by_default(web: Any):
    source = """const main = async (url) => {
      const followed = await fetch(url + '/away');
      const manual = await fetch(url + '/away', { redirect: 'manual' });
      const error = await fetch(url + '/away', { redirect: 'error' }).catch((e) => e.name);
      const endless = await fetch(url + '/around').catch((e) => e.name);
      return [followed.redirected, followed.url.slice(url.length), manual.status, manual.headers.get('location'), error, endless];
    }"""
    assert web(source) == [True, "/price", 302, "/price", "TypeError", "TypeError"]


@pytest.mark.slow
def test_the_fifty_first_request_rejects_and_redirects_do_not_count(web: Any, site: Any):
    source = """const main = async (url) => {
      let n = 0;
      try { for (;;) { await fetch(url + '/away'); n++; } } catch (e) { return [n, e.constructor === Error, e.message]; }
    }"""
    assert web(source) == [50, True, f"too many outbound requests: at most 50 are allowed per execution. {FEWER}"]
    assert len(site.seen) == 100


def test_concurrent_requests_are_counted(web: Any):
    source = """const main = async (url) => (await Promise.allSettled(Array.from({ length: 8 }, () => fetch(url + '/price'))))
      .map((x) => x.status[0]).sort().join('')"""
    assert web(source, max_fetch_count=5) == "fffff" + "rrr"


def test_urls_without_a_host_are_handled_locally_and_counted(web: Any):
    source = """const main = async () => {
      const texts = [await (await fetch('data:text/plain,hi')).text(), await (await fetch(URL.createObjectURL(new Blob(['blob'])))).text()];
      return [...texts, await fetch('data:,x').catch((e) => e.message)];
    }"""
    assert web(source, max_fetch_count=2) == [
        "hi",
        "blob",
        f"too many outbound requests: at most 2 are allowed per execution. {FEWER}",
    ]


def test_a_request_can_be_aborted_before_and_while_it_waits(web: Any):
    source = """const main = async (url) => {
      const before = await fetch(url + '/price', { signal: AbortSignal.abort() }).catch((e) => e.name);
      const c = new AbortController();
      setTimeout(() => c.abort(new Error('enough')), 50);
      const while_ = await fetch(url + '/silent', { signal: c.signal }).catch((e) => e.message);
      const late = await fetch(url + '/silent', { signal: AbortSignal.timeout(50) }).catch((e) => e.name);
      return [before, while_, late];
    }"""
    assert web(source) == ["AbortError", "enough", "TimeoutError"]


def test_a_server_that_does_not_answer_ends_at_the_requests_own_limit(web: Any):
    source = "const main = (url) => fetch(url + '/silent').catch((e) => [e.name, e.message])"
    assert web(source, fetch_timeout_ms=100) == [
        "TypeError",
        "fetch failed: the whole response did not arrive within 100 ms: try again, or request less data",
    ]


def test_an_answer_beyond_the_size_limit_is_refused(web: Any):
    source = "const main = (url) => fetch(url + '/large').catch((e) => e.message)"
    error = "fetch failed: the response is longer than 1000000 bytes: request less data"
    assert web(source, max_fetch_bytes=1_000_000) == error


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/"])
def test_an_unreachable_server_rejects_with_a_type_error(url: str, room: Any, open_network: Any):
    source = "const main = (url) => fetch(url).catch((e) => e.name)"
    assert room.value(source, url, host=room.host(network=open_network("allow"))) == "TypeError"


@pytest.mark.parametrize(
    "call", ["fetch('/relative')", "fetch('ftp://host/')", "fetch('https://user:pw@host/')", "fetch()"]
)
def test_an_invalid_request_rejects_with_a_type_error(call: str, web: Any):
    assert web(f"const main = async () => {call}.catch((e) => e.name)") == "TypeError"


def test_cookies_are_not_shared_between_runs(room: Any, site: Any, open_network: Any):
    network = open_network("allow")
    for _ in range(2):
        room.value(
            "const main = async (url) => (await fetch(url + '/cookie')).text()",
            site.url,
            host=room.host(network=network),
        )
    assert [name for _, _, headers, _ in site.seen for name in headers if name.lower() == "cookie"] == []


def test_ethers_providers_use_fetch_and_each_http_request_counts_once(web: Any, site: Any):
    source = """const main = async (url) => {
      const provider = new ethers.providers.JsonRpcProvider(url + '/rpc');
      const static_ = new ethers.providers.StaticJsonRpcProvider(url + '/rpc', 8453);
      return [(await provider.getNetwork()).chainId, await provider.getBlockNumber(),
              ethers.utils.formatEther(await static_.getBalance('0x' + '11'.repeat(20)))];
    }"""
    assert web(source) == [8453, 16, "1.0"]
    assert 3 <= len(site.seen) <= 6
    assert web("const main = async (url) => (await ethers.utils.fetchJson(url + '/price')).usd") == 3141.59
