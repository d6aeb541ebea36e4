"""HTTP client for outbound requests of actions. Its policy allows, rejects, records or replays the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from svcnb.emulator.platform.addresses import AddressPolicy, AddressRefused, is_public
from svcnb.emulator.platform.fair_limit import FairLimit, LimitReached
from svcnb.emulator.platform.offload import LARGE_BYTES, in_thread, offload
from svcnb.emulator.sandbox.content_coding import ACCEPTED, BadCoding, decoded, is_decoded
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse, OperationRefused
from svcnb.emulator.sandbox.recording import Recording, RecordingError
from svcnb.protocol.limits import (
    MAX_HELD_BYTES,
    MAX_HELD_BYTES_PER_ACCOUNT,
    MAX_OUTBOUND,
    MAX_OUTBOUND_PER_ACCOUNT,
    MAX_REDIRECTS,
    OUTBOUND_CONNECT_S,
    OUTBOUND_WAIT_S,
    SMALL_ANSWER_BYTES,
    ActionLimits,
)

if TYPE_CHECKING:
    import httpx

Policy = Literal["allow", "deny", "record", "replay"]
POLICIES: tuple[Policy, ...] = ("allow", "deny", "record", "replay")

# Modules to import in a thread. Otherwise, the HTTP library imports them on the event loop at the first request.
_LOADED_LATE = ("anyio._backends._asyncio", "httpcore._backends.anyio")
# Hop-by-hop headers, and headers that the HTTP client sets itself.
_NOT_FORWARDED = frozenset({"connection", "content-length", "host", "keep-alive", "te", "transfer-encoding", "upgrade"})
_NOT_RETURNED = frozenset({"connection", "content-length", "set-cookie", "transfer-encoding"})


class Network:
    """HTTP client for the outbound requests of all runs.

    Args:
        policy: ``allow``, ``deny``, ``record`` (allow and record), or ``replay`` (only recorded responses).
        file: Path of the recording, which ``record`` and ``replay`` require. None means no recording.
        addresses: Addresses to which connections are allowed, or None for public addresses only. The check also applies
            to redirects.
    """

    def __init__(
        self,
        policy: Policy = "allow",
        file: Path | None = None,
        *,
        addresses: AddressPolicy | None = None,
    ) -> None:
        self._addresses = addresses or AddressPolicy()
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()
        self._connections = FairLimit(MAX_OUTBOUND, MAX_OUTBOUND_PER_ACCOUNT, OUTBOUND_WAIT_S)
        self._held = FairLimit(MAX_HELD_BYTES, MAX_HELD_BYTES_PER_ACCOUNT, OUTBOUND_WAIT_S)
        self.policy: Policy = "allow"
        self._recording: Recording | None = None
        self.configure(policy, file)

    @property
    def file(self) -> Path | None:
        """Path of the current recording, or None without a recording."""
        return None if self._recording is None else self._recording.path

    def configure(self, policy: Policy, file: Path | None = None) -> None:
        """Changes the policy for future requests. A replay starts from the beginning.

        Args:
            policy: The new policy. See `Network`.
            file: Path of the recording. None means no recording, which only ``allow`` and ``deny`` permit.

        Raises:
            ValueError: The policy is unknown, or the policy requires a recording and ``file`` is None.
            RecordingError: The recording cannot be read.
        """
        if policy not in POLICIES:
            raise ValueError(f"network policy {policy!r} is unknown: use one of {', '.join(POLICIES)}")
        if policy in {"record", "replay"} and file is None:
            raise ValueError(f"network policy {policy!r} needs a recording: pass the path of a file")
        recording = None
        if file is not None:
            recording = Recording(file, must_exist=policy == "replay")
        self.policy, self._recording = policy, recording

    async def close(self) -> None:
        """Closes all connections. A later request opens new connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def fetch(self, request: FetchRequest, limits: ActionLimits, account: str = "") -> FetchResponse:
        """Sends one request or returns its recorded response, depending on the policy.

        Args:
            request: Request of the action.
            limits: Limits of the run.
            account: Billing wallet of the account that pays for the run. Each account can use only a part of the
                connections and the memory for responses.

        Raises:
            OperationRefused: The policy forbids the request, or the request failed. The action receives a TypeError.
        """
        parts = urlsplit(request.url)
        if parts.scheme not in {"http", "https"}:
            raise _refused(f"the scheme {parts.scheme!r} is not supported: use http or https")
        policy, recording = self.policy, self._recording  # the policy and the recording can change during the request
        if policy == "deny":
            raise _refused(
                "outbound requests are disabled: start the emulator with --network-policy allow (SVC_NETWORK_POLICY)"
            )
        if policy == "replay" and recording is not None:
            # The recording compares requests including their bodies.
            is_long = request.body is not None and len(request.body) > LARGE_BYTES
            found = await offload(recording.replay, request) if is_long else recording.replay(request)
            if found is None:
                raise _refused(
                    f"the recording {recording.path.name} does not contain a response to {request.method} "
                    f"{request.url}: record the response first with the network policy 'record'"
                )
            return found
        response = await self._send(request, limits, account)
        if policy == "record" and recording is not None:
            try:
                await recording.add(request, response)
            except RecordingError as error:
                for release in response.held:
                    release()
                raise _refused(str(error)) from None
        return response

    async def _send(self, request: FetchRequest, limits: ActionLimits, account: str) -> FetchResponse:
        client = await self._get_client()
        import httpx

        headers = [(name, value) for name, value in request.headers if name.lower() not in _NOT_FORWARDED]
        try:
            async with asyncio.timeout(limits.fetch_timeout_ms / 1000), self._connections.hold(account):
                built = client.build_request(request.method, request.url, headers=headers, content=request.body)
                response = await client.send(built, stream=True, follow_redirects=request.redirect == "follow")
                try:
                    if request.redirect == "error" and response.has_redirect_location:
                        raise _refused(
                            f"the response is a redirect (status {response.status_code}), but the request has "
                            "redirect: 'error'. Use 'follow' to follow redirects."
                        )
                    body, held = await self._read(response, limits.max_fetch_bytes, account)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise _refused(
                f"the whole response did not arrive within {limits.fetch_timeout_ms} ms: try again, or request less "
                "data"
            ) from None
        except LimitReached as error:
            raise _refused(
                f"{error}: each account can have at most {MAX_OUTBOUND_PER_ACCOUNT} concurrent requests and "
                f"{MAX_HELD_BYTES_PER_ACCOUNT} bytes of responses. All accounts together can have at most "
                f"{MAX_OUTBOUND} requests and {MAX_HELD_BYTES} bytes. Send fewer requests at the same time."
            ) from None
        except (AddressRefused, BadCoding) as error:
            raise _refused(str(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise _refused(f"{type(error).__name__}: {error}".removesuffix(": ")) from None
        is_plain = is_decoded(response.headers.get("content-encoding", ""))
        left_out = _NOT_RETURNED | {"content-encoding"} if is_plain else _NOT_RETURNED
        return FetchResponse(
            status=response.status_code,
            status_text=response.reason_phrase,
            headers=tuple((k, v) for k, v in response.headers.multi_items() if k.lower() not in left_out),
            body=body,
            url=str(response.url),
            redirected=bool(response.history),
            held=held,
        )

    async def _read(
        self, response: httpx.Response, max_bytes: int, account: str
    ) -> tuple[bytes | bytearray, tuple[Callable[[], None], ...]]:
        """Reads a response. Returns its body, and functions that release the memory budget of the body.

        For a large body, the method waits for free budget before it reads the rest of the body.
        """
        data = bytearray()
        budget = ExitStack()
        is_held = False
        try:
            coding = response.headers.get("content-encoding", "")
            async for chunk in decoded(response.aiter_raw(SMALL_ANSWER_BYTES), coding):
                data += chunk
                if len(data) > max_bytes:
                    raise _refused(  # noqa: TRY301 - this block releases the budget
                        f"the response is longer than {max_bytes} bytes: request less data"
                    )
                if not is_held and len(data) > SMALL_ANSWER_BYTES:
                    amount = _announced(response, max_bytes)
                    await self._held.take(account, amount)
                    budget.callback(self._held.release, account, amount)
                    is_held = True
        except BaseException:
            budget.close()
            data = bytearray()  # free the bytes now, because the error's traceback refers to this frame
            raise
        return (data, (budget.close,)) if is_held else (bytes(data), ())

    async def _get_client(self) -> httpx.AsyncClient:
        # Create the client in a thread, because importing httpx and loading the system's certificates takes half a
        # second.
        async with self._making:
            if self._client is None:
                self._client = await in_thread(self._new_client)
            return self._client

    def _new_client(self) -> httpx.AsyncClient:
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx

        for name in _LOADED_LATE:
            with suppress(ImportError):
                import_module(name)
        # All runs share one client, which must not pass data between them.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        return httpx.AsyncClient(
            transport=_checked_transport(self._addresses),
            trust_env=False,  # the transport reads the proxy settings and checks addresses first
            cookies=no_cookies,
            max_redirects=MAX_REDIRECTS,
            timeout=httpx.Timeout(None, connect=OUTBOUND_CONNECT_S, pool=OUTBOUND_CONNECT_S),
            headers={"user-agent": "svcnb-action", "accept-encoding": ACCEPTED},
        )


def _checked_transport(policy: AddressPolicy) -> httpx.AsyncBaseTransport:
    from urllib.request import getproxies, proxy_bypass

    import httpx

    # Do not reuse connections, because the pool selects them by address and ignores the checked host name.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)

    def transport(proxy: str | None = None) -> httpx.AsyncHTTPTransport:
        return httpx.AsyncHTTPTransport(trust_env=False, limits=limits, proxy=proxy)

    direct = transport()
    proxies = {
        scheme: transport(url)
        for scheme, url in getproxies().items()
        if scheme in {"http", "https"} and url.startswith(("http://", "https://"))
    }

    class CheckedTransport(httpx.AsyncBaseTransport):
        """Transport that connects to an address from the policy's check, and does not resolve the host again."""

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            host = request.url.host
            port = request.url.port or (443 if request.url.scheme == "https" else 80)
            try:
                addresses = await policy.check(host, port, request.url.raw_path.decode("ascii", "replace"))
            except OSError as error:
                raise httpx.ConnectError(
                    f"no address was found for the host {host} ({error.strerror or error}): check the host name",
                    request=request,
                ) from None
            through = proxies.get(request.url.scheme)
            inner = direct if through is None or not is_public(addresses[0]) or proxy_bypass(host) else through
            for address in addresses[:-1]:
                try:
                    return await inner.handle_async_request(_sent_to(address, request))
                except httpx.ConnectError:
                    continue
            return await inner.handle_async_request(_sent_to(addresses[-1], request))

        async def aclose(self) -> None:
            for each in (direct, *proxies.values()):
                await each.aclose()

    return CheckedTransport()


def _announced(response: httpx.Response, max_bytes: int) -> int:
    """Returns the memory to reserve for a body, in bytes: the length of the body if known, otherwise the maximum."""
    length = response.headers.get("content-length", "")
    plain = "content-encoding" not in response.headers
    return min(int(length), max_bytes) if plain and length.isascii() and length.isdigit() else max_bytes


def _sent_to(address: str, request: httpx.Request) -> httpx.Request:
    """Returns a copy of a request. The URL of the copy contains an IP address instead of the host name.

    The ``Host`` header and the host name for the certificate check remain unchanged.
    """
    import httpx

    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


def _refused(why: str) -> OperationRefused:
    return OperationRefused(f"fetch failed: {why}", name="TypeError")
