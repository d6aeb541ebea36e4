"""Policy for the network addresses to which the emulator connects on behalf of actions.

An action may reach the public internet and, of this machine, only the emulator's own API. Every address that a name
resolves to is checked, and the connection goes to a checked address, so a second DNS answer changes nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, NamedTuple

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All public IPv6 addresses (RFC 4291). Outside are loopback, local, multicast and NAT64 addresses."""
_TUNNELS: Final = (
    ipaddress.IPv6Network("2002::/16"),  # 6to4 (RFC 3056): an IPv4 address is inside
    ipaddress.IPv6Network("2001::/32"),  # Teredo (RFC 4380): as well
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays of 6to4 (RFC 7526)
)
_OWN_PATHS: Final = ("/core/v1/", "/webhook/")
"""The part of the emulator that an action may use: never the control plane, the approval pages or the payment pages."""
_LOCALHOST: Final = "localhost"
_PORTS: Final = range(1, 65536)
_DISCARD_PORT: Final = 9


class AddressRefused(Exception):
    """The policy does not permit a connection. The message names the option that allows it."""


class AllowedAddress(NamedTuple):
    """One value of ``allow_address``.

    Attributes:
        host: Lower-case name, or an IP address in its shortest form.
        port: TCP port, None for every port.
    """

    host: str
    port: int | None

    def __str__(self) -> str:
        """The value in its written form."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> AllowedAddress:
        """Reads ``HOST[:PORT]``; an IPv6 address with a port is written in brackets.

        Raises:
            ValueError: The text has another form.
        """
        given = text.strip()
        host, port = given, ""
        if given.startswith("["):
            host, _, port = given[1:].partition("]")
            port = port.removeprefix(":") if port.startswith(":") else ("" if not port else "?")
        elif given.count(":") == 1:
            host, _, port = given.partition(":")
            port = port or "?"
        number = int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else None  # noqa: PLR2004
        if not _is_host(host) or (port and number not in _PORTS):
            raise ValueError(
                f"invalid allow_address {text[:80]!r}: expected HOST or HOST:PORT, "
                "for example 127.0.0.1:8545, localhost:3000 or [::1]:3000"
            )
        return cls(_spelled(host), number)


class AddressPolicy:
    """Decides where actions may connect.

    Args:
        allowed: Addresses that the user allows beside the public internet.
        resolver: Resolves a host name, for tests.

    Attributes:
        own_port: TCP port of the emulator itself, 0 until it listens.
    """

    def __init__(self, allowed: Iterable[AllowedAddress] = (), *, resolver: Resolve | None = None) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolver or resolve
        self.own_port = 0

    async def check(self, host: str, port: int, path: str) -> list[str]:
        """Resolves a host and returns the addresses that may be connected to, in the order of preference.

        Args:
            host: Name or address as written in the URL.
            port: TCP port.
            path: Path of the URL, still percent-encoded; it matters for the emulator's own address alone.

        Raises:
            AddressRefused: No address of the host is permitted.
            OSError: The host has no address.
        """
        found = await self._resolve(host, port)
        if not found:
            raise OSError(f"{host} has no address")
        permitted: list[str] = []
        reason = ""
        for address in found:
            why = self._why_not(host, address, port, path.partition("?")[0])
            if why is None:
                permitted.append(address)
            else:
                reason = reason or why
        if not permitted:
            raise AddressRefused(reason)
        return permitted

    def _why_not(self, host: str, address: str, port: int, path: str) -> str | None:
        ip = _ip(address)
        mine = is_own(ip)
        if mine and port == self.own_port:
            if path == "/rpc" or path.startswith(_OWN_PATHS):
                return None
            return f"of the emulator itself actions may use only /core/v1, /rpc and /webhook, not {path[:80]!r}"
        kind = kind_of(ip) or ("an address of this machine" if mine else None)
        if kind is None or self._is_allowed(host, ip, port):
            return None
        shown = f"[{host}]" if ":" in host else host
        return (
            f"{host} is {kind}, which actions may not reach by default; "
            f"to allow it, start the emulator with --allow-address {shown}:{port}"
        )

    def _is_allowed(self, host: str, ip: IPAddress, port: int) -> bool:
        names = {_spelled(host), str(ip)} | ({_LOCALHOST} if ip.is_loopback else set())
        return any(each.host in names and each.port in {None, port} for each in self._allowed)


async def resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of a host, in the order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    return kind_of(_ip(address)) is None


def kind_of(ip: IPAddress) -> str | None:
    """Describes an address that is not public, for people. None for a public address."""
    if ip.is_loopback or ip.is_unspecified:
        return "a loopback address"
    if ip.is_link_local:
        return "a link-local address"
    if any(ip in network for network in _TUNNELS):
        return "an address of a tunnel to IPv4"
    if not ip.is_global or ip.is_multicast or ip.is_reserved or (ip.version == 6 and ip not in _GLOBAL_UNICAST):  # noqa: PLR2004
        return "a private address"
    return None


def is_own(ip: IPAddress) -> bool:
    """Whether an address belongs to this machine: the system would send to it from the address itself."""
    if ip.is_loopback or ip.is_unspecified:
        return True
    try:
        with socket.socket(socket.AF_INET if ip.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:  # noqa: PLR2004
            probe.connect((str(ip), _DISCARD_PORT))  # sends nothing: UDP
            return _ip(str(probe.getsockname()[0])) == ip
    except OSError:
        return False


def _ip(address: str) -> IPAddress:
    """An address without its zone; one that carries an IPv4 address in an IPv6 one becomes that IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return getattr(ip, "ipv4_mapped", None) or ip


def _spelled(host: str) -> str:
    try:
        return str(_ip(host))
    except ValueError:
        return host.lower().rstrip(".")


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return bool(text) and all(each.isalnum() or each in "-._" for each in text)
    return True
