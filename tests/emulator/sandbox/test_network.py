"""The network policy: allow, deny, record, replay, and private addresses."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from svcnb.emulator.platform.addresses import AddressPolicy, AllowedAddress
from svcnb.emulator.sandbox import recording
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.protocol import FetchRequest, OperationRefused
from svcnb.emulator.sandbox.recording import RecordingError
from svcnb.protocol.limits import MAX_RECORDING_FILE_BYTES, ActionLimits

LIMITS = ActionLimits(fetch_timeout_ms=60_000)


async def get(network: Network, url: str, **more: Any) -> Any:
    try:
        return await network.fetch(FetchRequest("GET", url, **more), LIMITS)
    finally:
        await network.close()


async def test_deny_refuses_every_request_with_the_reason(site: Any):
    with pytest.raises(OperationRefused, match="disabled"):
        await get(Network("deny"), site.url + "/price")
    assert site.seen == []


async def test_a_recording_is_readable_json_and_replays_without_the_server(site: Any, tmp_path: Path):
    file = tmp_path / "deep" / "prices.json"
    recorded = await get(
        Network("record", file, addresses=HERE), site.url + "/price", headers=(("authorization", "Bearer secret"),)
    )
    text = file.read_text(encoding="utf-8")
    assert "secret" not in text
    assert json.loads(text)["exchanges"] == [
        {
            "request": {"method": "GET", "url": site.url + "/price"},
            "response": {
                "status": 200,
                "status_text": "OK",
                "headers": [[name, value] for name, value in recorded.headers],
                "body": '{"symbol":"ETH","usd":3141.59}',
            },
        }
    ]
    site.close()
    replayed = await get(Network("replay", file), site.url + "/price")
    assert replayed == recorded


async def test_recording_appends_and_replay_returns_responses_in_order(tmp_path: Path):
    file = tmp_path / "r.json"
    exchanges = [
        {"request": {"method": "GET", "url": "https://p.example/"}, "response": {"status": 200, "body": text}}
        for text in ("1", "2")
    ]
    file.write_text(json.dumps({"version": 1, "exchanges": exchanges}))
    network = Network("replay", file)
    assert [(await get(network, "https://p.example/")).body for _ in range(4)] == [b"1", b"2", b"2", b"2"]
    network.configure("replay", file)
    assert (await get(network, "https://p.example/")).body == b"1"


async def test_binary_bodies_are_recorded(site: Any, tmp_path: Path):
    file = tmp_path / "r.json"
    recorded = await get(Network("record", file, addresses=HERE), site.url + "/bytes")
    assert "body_base64" in file.read_text()
    assert (await get(Network("replay", file), site.url + "/bytes")).body == recorded.body == bytes(range(256))


async def test_recording_again_keeps_earlier_exchanges(site: Any, tmp_path: Path):
    file = tmp_path / "r.json"
    await get(Network("record", file, addresses=HERE), site.url + "/price")
    await get(Network("record", file, addresses=HERE), site.url + "/teapot")
    assert [e["response"]["status"] for e in json.loads(file.read_text())["exchanges"]] == [200, 418]


async def test_an_unrecorded_request_is_rejected_with_its_url(tmp_path: Path):
    file = tmp_path / "r.json"
    file.write_text('{"version": 1, "exchanges": []}')
    with pytest.raises(OperationRefused, match=r"r\.json does not contain a response to GET https://p\.example/x"):
        await get(Network("replay", file), "https://p.example/x")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "does not exist"),
        ("{", "is not a recording"),
        ("[]", "is not a recording"),
        ('{"version": 9}', "version 9"),
    ],
)
def test_a_recording_that_cannot_be_read_is_refused_at_once(content: str | None, text: str, tmp_path: Path):
    file = tmp_path / "r.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(RecordingError, match=text):
        Network("replay", file)


def test_a_recording_must_be_a_regular_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(RecordingError, match="not a regular file"):
            Network("record", path)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_RECORDING_FILE_BYTES + 1)
    with pytest.raises(RecordingError, match="at most 268435456 are allowed"):
        Network("replay", tmp_path / "large")


async def test_a_recording_has_a_size_limit(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recording, "MAX_RECORDING_BYTES", 1_500)
    file = tmp_path / "r.json"
    network = Network("record", file, addresses=HERE)
    while len(json.loads(file.read_text())["exchanges"] if file.exists() else []) < 2:
        await get(network, site.url + "/bytes")
    with pytest.raises(OperationRefused, match=r"the recording r\.json is full: it can contain at most 1500 bytes"):
        await get(network, site.url + "/bytes")
    assert len(json.loads(file.read_text())["exchanges"]) == 2
    assert len(file.read_bytes()) < 2_000


async def test_a_recording_that_cannot_be_written_fails_the_request_with_the_reason(site: Any, tmp_path: Path):
    (tmp_path / "file").touch()
    network = Network("record", tmp_path / "r.json", addresses=HERE)
    network._recording.path = tmp_path / "file" / "r.json"  # type: ignore[union-attr]
    with pytest.raises(OperationRefused, match="cannot be written"):
        await get(network, site.url + "/price")


def test_a_bad_policy_changes_nothing(tmp_path: Path):
    network = Network("deny")
    with pytest.raises(ValueError, match="allow, deny, record, replay"):
        network.configure("sometimes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a recording: pass the path of a file"):
        network.configure("record")
    with pytest.raises(RecordingError):
        network.configure("replay", tmp_path / "none.json")
    assert network.policy == "deny"


def allowing(*addresses: str, **more: Any) -> AddressPolicy:
    return AddressPolicy([AllowedAddress.parse(each) for each in addresses], **more)


HERE = allowing("127.0.0.1")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "0.0.0.0", "[::]", "[::ffff:7f00:1]"],  # noqa: S104 - where to connect
)
async def test_all_names_of_this_machine_are_rejected_with_the_option(host: str, site: Any):
    port = site.url.rpartition(":")[2]
    with pytest.raises(OperationRefused, match=rf"to allow access, start .* --allow-address {re.escape(host)}:{port}"):
        await get(Network(), f"http://{host}:{port}/price")
    assert site.seen == []


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.1:{port}", "localhost:{port}", "localhost"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_allowed_address_is_reached_by_either_name(host: str, allowed: str, site: Any):
    port = site.url.rpartition(":")[2]
    policy = allowing(allowed.format(port=port))
    answer = await get(Network(addresses=policy), f"http://{host}:{port}/price")
    assert (answer.status, answer.url) == (200, f"http://{host}:{port}/price")


async def test_an_allowed_address_allows_its_port_alone(site: Any):
    with pytest.raises(OperationRefused, match="loopback"):
        await get(Network(addresses=allowing("127.0.0.1:1")), site.url + "/price")


async def test_a_name_with_a_private_address_is_rejected_after_one_lookup():
    asked: list[str] = []

    async def resolver(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["10.0.0.1"] if len(asked) == 1 else ["127.0.0.1"]

    with pytest.raises(OperationRefused, match=r"rebind\.example has a private address"):
        await get(Network(addresses=AddressPolicy(resolver=resolver)), "http://rebind.example/")
    assert asked == ["rebind.example"]


async def test_a_name_with_private_and_permitted_addresses_is_reached_at_the_permitted_one(site: Any):
    async def resolver(_host: str, _port: int) -> list[str]:
        return ["10.0.0.1", "127.0.0.1"]

    url = site.url.replace("127.0.0.1", "shop.example")
    answer = await get(Network(addresses=allowing("127.0.0.1", resolver=resolver)), url + "/price")
    assert (answer.status, answer.url) == (200, url + "/price")


async def test_the_next_address_is_tried_when_the_first_does_not_answer(site: Any):
    async def resolver(_host: str, _port: int) -> list[str]:
        return ["::1", "127.0.0.1"]

    url = site.url.replace("127.0.0.1", "shop.example")
    assert (await get(Network(addresses=allowing("shop.example", resolver=resolver)), url + "/price")).status == 200


async def test_the_host_of_a_redirect_is_checked(site: Any):
    checked: list[str] = []

    async def resolver(host: str, _port: int) -> list[str]:
        checked.append(host)
        return ["127.0.0.1"] if len(checked) == 1 else ["10.0.0.1"]

    network = Network(addresses=allowing("127.0.0.1", resolver=resolver))
    with pytest.raises(OperationRefused, match="private address"):
        await get(network, site.url.replace("127.0.0.1", "shop.example") + "/away")
    assert len(checked) == 2
    assert [(method, path) for method, path, _, _ in site.seen] == [("GET", "/away")]
    assert site.seen[0][2]["Host"].startswith("shop.example")


async def test_no_connection_is_used_twice_so_none_outlives_its_check(site: Any):
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def resolver(_host: str, _port: int) -> list[str]:
        return answers.pop(0)

    network = Network(addresses=allowing("127.0.0.1", resolver=resolver))
    request = FetchRequest("GET", site.url.replace("127.0.0.1", "shop.example") + "/price")
    assert (await network.fetch(request, LIMITS)).status == 200
    with pytest.raises(OperationRefused, match="private address"):
        await network.fetch(request, LIMITS)
    await network.close()


@pytest.mark.slow
async def test_many_requests_share_one_client_and_receive_their_own_responses(site: Any):
    network = Network("allow", addresses=HERE)
    paths = ["/price", "/teapot", "/missing"] * 5
    answers = await asyncio.gather(*[network.fetch(FetchRequest("GET", site.url + path), LIMITS) for path in paths])
    await network.close()
    assert [answer.status for answer in answers] == [200, 418, 404] * 5


async def test_a_request_keeps_the_policy_from_its_start(site: Any, tmp_path: Path):
    network = Network("allow", addresses=HERE)
    send = network._send

    async def switch(*given: Any) -> Any:
        network.configure("record", tmp_path / "later.json")  # before the response arrives
        return await send(*given)

    network._send = switch  # type: ignore[method-assign,assignment]
    assert (await get(network, site.url + "/price")).status == 200
    assert not (tmp_path / "later.json").exists()
