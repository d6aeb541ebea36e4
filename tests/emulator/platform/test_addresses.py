"""Addresses to which actions can connect."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from svcnb.emulator.platform.addresses import AddressPolicy, AddressRefused, AllowedAddress, is_own, is_public
from svcnb.emulator.settings import Settings


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:93.184.215.14"]
)
def test_addresses_of_the_public_internet_are_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        # RFC 1122, 1918, 3927, 6598, 5771, 919, 1112, 6890, 2544, 7526
        "127.0.0.1", "127.255.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.1", "198.18.0.1", "192.88.99.1",  # noqa: S104 - addresses to judge
        # RFC 4291, 4193, 3879, and IPv4 addresses inside IPv6: mapped, compatible, translated
        "::1", "::", "fe80::1", "fe80::1%eth0", "fd00::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1",
        # NAT64 (RFC 6052, 8215), 6to4, Teredo, discard
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808", "64:ff9b:1::7f00:1",
        "2002:7f00:1::", "2002:808:808::1", "2001::1", "100::1",
    ],
)  # fmt: skip
def test_all_other_addresses_are_rejected(address: str):
    assert not is_public(address)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1", "127.0.0.1", None), ("127.0.0.1:8545", "127.0.0.1", 8545), ("Localhost:3000", "localhost", 3000),
        ("::1", "::1", None), ("[::1]", "::1", None), ("[0::1]:80", "::1", 80), (" db.intern. ", "db.intern", None),
        ("::ffff:10.0.0.1", "10.0.0.1", None),
    ],
)  # fmt: skip
def test_an_allowed_address_is_a_host_with_an_optional_port(text: str, host: str, port: int | None):
    assert AllowedAddress.parse(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["", ":80", "host:", "host:0", "host:65536", "host:x", "http://host", "a b", "[::1]80", "[::1", "host/24", "*"],
)
def test_another_form_is_refused_with_examples(text: str):
    with pytest.raises(ValueError, match=r"expected HOST or HOST:PORT, for example 127\.0\.0\.1:8545"):
        AllowedAddress.parse(text)


def test_the_setting_accepts_a_list_or_comma_separated_text():
    expected = (("127.0.0.1", 8545), ("::1", 80))
    assert Settings.load({}, allow_address=["127.0.0.1:8545", "[::1]:80"]).allow_address == expected
    assert Settings.load({"SVC_ALLOW_ADDRESS": "127.0.0.1:8545, [::1]:80,"}).allow_address == expected
    shown = Settings.load({}, allow_address=["[::1]:80", "db"]).model_dump(mode="json")["allow_address"]
    assert shown == ["[::1]:80", "db"]


def own_addresses() -> list[str]:
    """Addresses of this machine that other machines can use, and every notation of loopback."""
    found = {"127.0.0.1", "127.0.0.9", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1"}  # noqa: S104 - where to connect
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(probe.getsockname()[0])
        except OSError:  # without any network
            pass
    return sorted(found)


@pytest.mark.parametrize("address", own_addresses())
async def test_actions_reach_only_the_api_the_chain_and_webhooks_of_the_emulator(address: str):
    async def resolver(_host: str, _port: int) -> list[str]:
        return [address]

    # This also applies if the user permits all addresses of this machine, because that setting is for other programs.
    policy = AddressPolicy([AllowedAddress("localhost", None), AllowedAddress("me.example", None)], resolver=resolver)
    policy.own_port = 8000
    for path in ("/core/v1/svc_action", "/rpc", "/rpc?x=1", "/webhook/3f"):
        assert await policy.check("me.example", 8000, path) == [address]
    closed = (
        "/", "/_emulator/state", "/%5Femulator/state", "/agent/authorize?challenge=x", "/processor/pay/pi_1",
        "/api/triggers", "//core/v1/x", "/x?/core/v1/", "/rpcs", "/core/v1", "/core/v10/x",
    )  # fmt: skip
    for path in closed:
        with pytest.raises(AddressRefused, match="of the emulator: use /core/v1, /rpc or /webhook"):
            await policy.check("me.example", 8000, path)


def test_all_addresses_of_this_machine_are_recognised():
    assert all(is_own(getattr(ip := ipaddress.ip_address(each), "ipv4_mapped", None) or ip) for each in own_addresses())
    assert not is_own(ipaddress.ip_address("93.184.215.14"))


async def test_an_address_with_a_port_is_allowed_only_on_that_port():
    async def resolver(host: str, _port: int) -> list[str]:
        return [host]

    policy = AddressPolicy([AllowedAddress.parse("127.0.0.1:8545")], resolver=resolver)
    assert await policy.check("127.0.0.1", 8545, "/") == ["127.0.0.1"]
    with pytest.raises(AddressRefused, match=r"--allow-address 127\.0\.0\.1:8546"):
        await policy.check("127.0.0.1", 8546, "/")
