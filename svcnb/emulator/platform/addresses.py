"""Policy that permits or rejects the connections of actions to network addresses.

An action can connect to the public internet, to the emulator's own API, and to the addresses in the setting
``allow_address``. The policy rejects all other addresses. The policy resolves a host name and checks all addresses of
the host. The connection uses one of the permitted addresses, so a later DNS response has no effect.
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
"""Range that contains all public IPv6 addresses (RFC 4291), but no loopback, local, multicast or NAT64 addresses."""
_TUNNELS: Final = (
    ipaddress.IPv6Network("2002::/16"),  # 6to4 (RFC 3056): contains an IPv4 address
    ipaddress.IPv6Network("2001::/32"),  # Teredo (RFC 4380): contains an IPv4 address
    ipaddress.IPv4Network("192.88.99.0/24"),  # 6to4 relays (RFC 7526)
)
_OWN_PATHS: Final = ("/core/v1/", "/webhook/")
"""Path prefixes of the emulator that actions can access, in addition to ``/rpc``.

Actions cannot access the control plane, the approval pages or the payment pages.
"""
_LOCALHOST: Final = "localhost"
_PORTS: Final = range(1, 65536)
_DISCARD_PORT: Final = 9


class AddressRefused(Exception):
    """Error for a connection that the policy does not permit.

    If a setting can permit the connection, the message contains the setting.
    """


class AllowedAddress(NamedTuple):
    """Address that the setting ``allow_address`` permits.

    Attributes:
        host: Lowercase host name, or IP address in its shortest form.
        port: TCP port, or None for all ports.
    """

    host: str
    port: int | None

    def __str__(self) -> str:
        """Returns the address as ``HOST`` or ``HOST:PORT``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> AllowedAddress:
        """Returns the address from the text ``HOST[:PORT]``. An IPv6 address with a port must be in brackets.

        Raises:
            ValueError: The text is not ``HOST`` or ``HOST:PORT``.
        """
        given = text.strip()
        host, port = given, ""
        if given.startswith("["):
            host, closed, port = given[1:].partition("]")
            port = port.removeprefix(":") if port.startswith(":") else ("" if closed and not port else "?")
        elif given.count(":") == 1:
            host, _, port = given.partition(":")
            port = port or "?"
        number = int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else None  # noqa: PLR2004
        if not _is_host(host) or (port and number not in _PORTS):
            raise ValueError(
                f"invalid allow_address {text[:80]!r}: expected HOST or HOST:PORT, "
                "for example 127.0.0.1:8545, localhost:3000 or [::1]:3000"
            )
        return cls(_normalised(host), number)


class AddressPolicy:
    """Policy that permits or rejects the connections of actions to network addresses.

    Args:
        allowed: Permitted addresses in addition to the public internet.
        resolver: Function that resolves a host name. Tests pass their own function. None means the system's resolver.

    Attributes:
        own_port: TCP port of the emulator, or 0 before the emulator listens on a port.
    """

    def __init__(self, allowed: Iterable[AllowedAddress] = (), *, resolver: Resolve | None = None) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolver or resolve
        self.own_port = 0

    async def check(self, host: str, port: int, path: str) -> list[str]:
        """Resolves a host and returns its permitted addresses, in order of preference.

        Args:
            host: Host name or address from the URL.
            port: TCP port.
            path: Percent-encoded path of the URL. The policy checks the path only for the emulator's own address.

        Raises:
            AddressRefused: The policy permits none of the host's addresses.
            OSError: The host has no address, or its name cannot be resolved.
        """
        found = await self._resolve(host, port)
        if not found:
            raise OSError(f"the host {host} has no address")
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
            return f"actions cannot use the path {path[:80]!r} of the emulator: use /core/v1, /rpc or /webhook"
        kind = kind_of(ip) or ("an address of this machine" if mine else None)
        if kind is None or self._is_allowed(host, ip, port):
            return None
        shown = f"[{host}]" if ":" in host else host
        named = f"{host} is" if _normalised(host) == str(ip) else f"the host {host} has"
        return (
            f"{named} {kind}, which actions cannot access by default: to allow access, start the emulator with "
            f"--allow-address {shown}:{port}"
        )

    def _is_allowed(self, host: str, ip: IPAddress, port: int) -> bool:
        names = {_normalised(host), str(ip)} | ({_LOCALHOST} if ip.is_loopback else set())
        return any(each.host in names and each.port in {None, port} for each in self._allowed)


async def resolve(host: str, port: int) -> list[str]:
    """Returns the addresses of a host, in order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(address: str) -> bool:
    """Returns whether an IP address belongs to the public internet."""
    return kind_of(_ip(address)) is None


def kind_of(ip: IPAddress) -> str | None:
    """Describes the kind of an address that is not public. Returns None for a public address."""
    if ip.is_loopback or ip.is_unspecified:
        return "a loopback address"
    if ip.is_link_local:
        return "a link-local address"
    if any(ip in network for network in _TUNNELS):
        return "an IPv4 tunnel address"
    if not ip.is_global or ip.is_multicast or ip.is_reserved or (ip.version == 6 and ip not in _GLOBAL_UNICAST):  # noqa: PLR2004
        return "a private address"
    return None


def is_own(ip: IPAddress) -> bool:
    """Returns whether an address belongs to this machine.

    The function asks the system for the source address of a connection to this address. If the address
    belongs to this machine, the system returns the same address.
    """
    if ip.is_loopback or ip.is_unspecified:
        return True
    try:
        with socket.socket(socket.AF_INET if ip.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:  # noqa: PLR2004
            probe.connect((str(ip), _DISCARD_PORT))  # this call sends no packet, because the socket uses UDP
            return _ip(str(probe.getsockname()[0])) == ip
    except OSError:
        return False


def _ip(address: str) -> IPAddress:
    """Parses an address. Ignores an IPv6 zone, and converts an IPv4-mapped IPv6 address to IPv4."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return getattr(ip, "ipv4_mapped", None) or ip


def _normalised(host: str) -> str:
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
