"""The emulator's control plane, from outside: reset, snapshots, time, faults, money, runs.

Speaks HTTP with the standard library alone, so a test kit or a notebook has it without loading anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from svcnb.client.errors import SvcnbError
from svcnb.protocol.durations import seconds

if TYPE_CHECKING:
    from svcnb.client import AsyncClient, Client
    from svcnb.protocol.vocabulary import Vocabulary

CONTROL_TIMEOUT_S = 60.0
Part = Literal["chain", "billing", "runtime", "cpu", "triggers"]
Outcome = Literal["succeeded", "failed", "processing"]
Policy = Literal["allow", "deny", "record", "replay"]


class EmulatorError(SvcnbError):
    """The emulator, or the way to it, failed."""


class EmulatorUnreachable(EmulatorError):
    """Nothing answers at the emulator's address."""

    default_hint = "Start one with `svcnb emulator`, or with svcnb.Emulator()."


class ControlRefused(EmulatorError):
    """The control plane answered with an error.

    Args:
        status: HTTP status.
        message: What the emulator said.
        hint: The next step.
    """

    def __init__(self, status: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class EmulatorControl:
    """A running emulator, wherever it runs.

    Args:
        base_url: Its address, without ``/core/v1``.
        control_token: The secret of its control plane, if it has one.
        names: What is known about it already (the ready line); the rest is asked for when it is needed.

    Attributes:
        base_url: Address of the API; the paths begin with ``/core/v1``.
        clock: Its time: ``clock.advance("10m")``.
        faults: Failures on purpose: ``faults.next("chain")``.
    """

    def __init__(
        self, base_url: str, *, control_token: str | None = None, names: Mapping[str, Any] | None = None
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._token = control_token
        self._names: dict[str, Any] = dict(names or {})
        self.clock = ClockControl(self)
        self.faults = FaultControl(self)

    def __repr__(self) -> str:
        """Names no port: the same in every run, so a notebook's output can be compared."""
        return f"<{type(self).__name__}>"

    # --- addresses ----------------------------------------------------------------------------------------------

    @property
    def control_url(self) -> str:
        """Address of the control plane."""
        return str(self._names.get("control_url", f"{self.base_url}/_emulator"))

    @property
    def triggers_url(self) -> str:
        """Address of the triggers service."""
        return str(self._names.get("triggers_url", self.base_url))

    @property
    def rpc_url(self) -> str:
        """Address of the chain's JSON-RPC gateway."""
        return str(self._names.get("rpc_url", f"{self.base_url}/rpc"))

    @property
    def contract_address(self) -> str:
        """Address of the AccountConfig contract."""
        return str(self._known("contract_address"))

    @property
    def chain_id(self) -> int:
        """Id of the chain that the contract is on."""
        return int(self._known("chain_id"))

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the service and of the processor that this emulator speaks."""
        from svcnb.protocol.vocabulary import Vocabulary

        settings = self._known("settings")
        return Vocabulary(service=settings["service_name"], processor=settings["processor_name"])

    # --- clients ------------------------------------------------------------------------------------------------

    def client(self, **options: Any) -> Client:
        """A client of this emulator.

        Args:
            **options: Arguments of `svcnb.Client` beside the addresses, for example ``api_key``.
        """
        from svcnb.client import Client

        return Client(**self._client_options(options))

    def async_client(self, **options: Any) -> AsyncClient:
        """An asynchronous client of this emulator; arguments as in `client`."""
        from svcnb.client import AsyncClient

        return AsyncClient(**self._client_options(options))

    def _client_options(self, given: dict[str, Any]) -> dict[str, Any]:
        addresses = {"base_url": self.base_url, "triggers_url": self.triggers_url, "rpc_url": self.rpc_url}
        addresses["vocabulary"] = self.vocabulary
        return addresses | given

    # --- the whole ----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything readable about the emulator, without secrets."""
        return dict(self.request("GET", "/state"))

    def reset(self) -> None:
        """Goes back to the start state: no accounts, the clock as it was set at start, a fresh chain."""
        self.request("POST", "/reset", {})

    def snapshot(self, name: str) -> None:
        """Saves database and chain together.

        Args:
            name: What to call it; an older one of that name is replaced.
        """
        self.request("POST", f"/snapshots/{quote(name, safe='')}", {})

    def restore(self, name: str) -> None:
        """Goes back to a snapshot.

        Args:
            name: One of `snapshots`.

        Raises:
            ControlRefused: There is none of that name (404).
        """
        self.request("POST", f"/snapshots/{quote(name, safe='')}/restore", {})

    def forget(self, name: str) -> None:
        """Removes a snapshot.

        Args:
            name: One of `snapshots`.

        Raises:
            ControlRefused: There is none of that name (404).
        """
        self.request("DELETE", f"/snapshots/{quote(name, safe='')}")

    def snapshots(self) -> Any:
        """The snapshots that `restore` knows, oldest first."""
        return self.request("GET", "/snapshots")

    # --- money and wallets --------------------------------------------------------------------------------------

    def faucet(self, address: str, wei: int | None = None) -> int:
        """Gives ETH on the local chain.

        Args:
            address: Who gets it.
            wei: How much; ten ETH when None.

        Returns:
            How much was given, in wei.
        """
        # As text: numbers of JSON end at 2^53 in many languages.
        body = _given(address=address, wei=None if wei is None else str(wei))
        return int(self.request("POST", "/faucet", body)["wei"])

    def credit(self, wallet_address: str, cents: int) -> int:
        """Gives credit without a payment, for tests and teachers.

        Args:
            wallet_address: The account's billing wallet.
            cents: How much, in US cents.

        Returns:
            The credit after it, in cents.
        """
        return int(self.request("POST", "/credit", {"wallet_address": wallet_address, "cents": cents})["credit_cents"])

    def processor(
        self, payment_intent_id: str, outcome: Outcome = "succeeded", *, delay: float | str | timedelta | None = None
    ) -> Any:
        """Does what a person does on the processor's hosted page.

        Args:
            payment_intent_id: The intent, ``pi_...``.
            outcome: How the payment ends.
            delay: How long until it does, seconds or ``"2m"``; at once when None.
        """
        body = _given(outcome=outcome, delay_ms=None if delay is None else _milliseconds(delay))
        return self.request("POST", f"/processor/{quote(payment_intent_id, safe='')}", body)

    def contract_wallet(self, owner: str) -> str:
        """Deploys an ERC-1271 wallet.

        Args:
            owner: Address whose signatures it accepts.

        Returns:
            The wallet's address.
        """
        return str(self.request("POST", "/contract-wallets", {"owner": owner})["address"])

    # --- actions and triggers -----------------------------------------------------------------------------------

    def approve_agent(self, challenge: str, label: str | None = None) -> Any:
        """Does what a person does on the approval page of the triggers service.

        Args:
            challenge: The base64url SHA-256 of the token that asks.
            label: A name for it.
        """
        return self.request("POST", "/agents/approve", _given(challenge=challenge, label=label))

    def runs(self, *, limit: int = 50, offset: int = 0) -> list[dict[str, Any]]:
        """Executions with their logs, newest first, failed and refused ones too.

        Args:
            limit: How many at most.
            offset: How many to leave out first.
        """
        return list(self.request("GET", f"/runs?limit={limit:d}&offset={offset:d}")["runs"])

    def run_record(self, request_id: str) -> dict[str, Any]:
        """One execution with its logs and its trace.

        Args:
            request_id: As in `Run.request_id`.

        Raises:
            ControlRefused: There is none (404).
        """
        return dict(self.request("GET", f"/runs/{quote(request_id, safe='')}"))

    def network(self, policy: Policy, file: str | None = None) -> Any:
        """Sets what happens to outbound requests of actions.

        Args:
            policy: ``allow``, ``deny``, ``record`` into or ``replay`` from a file.
            file: The recording, a path on the emulator's machine.
        """
        return self.request("POST", "/network", _given(policy=policy, file=file))

    # --- transport ----------------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: object = None) -> Any:
        """One call of the control plane.

        Args:
            method: ``GET``, ``POST`` or ``DELETE``.
            path: Below ``/_emulator``.
            body: Sent as JSON unless None.

        Returns:
            The answer's JSON.

        Raises:
            EmulatorUnreachable: Nothing answers.
            ControlRefused: The answer is an error; it holds status and text.
        """
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        url = urlsplit(self.control_url + path)
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        # Straight to the address, never through a proxy of the environment: the emulator is nearly always on loopback.
        connection = connect(url.hostname or "127.0.0.1", url.port, timeout=CONTROL_TIMEOUT_S)
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, f"{url.path}?{url.query}" if url.query else url.path, payload, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, HTTPException) as error:
            raise EmulatorUnreachable(f"no emulator answers at {self.base_url} ({error})") from error
        finally:
            connection.close()
        return _read(answer.status, text, path)

    def _known(self, name: str) -> Any:
        if name not in self._names:
            self._names |= self.state()
        return self._names[name]


class ClockControl:
    """The emulator's time. Validity windows, expiry, schedules, the ledger and blocks all follow it."""

    def __init__(self, control: EmulatorControl) -> None:
        self._control = control

    def freeze(self, at: float | None = None) -> None:
        """Stands still.

        Args:
            at: Unix seconds; this very moment when None.
        """
        if at is None:
            at = self.now()
        self._control.request("POST", "/clock", {"freeze": at})

    def advance(self, span: float | str | timedelta | None = None, /, **units: float) -> None:
        """Moves forward.

        Args:
            span: Seconds, ``"10m"`` or a ``timedelta``.
            **units: Or as in ``timedelta``: ``hours=1, minutes=30``.
        """
        if (span is None) == (not units):
            raise TypeError("advance() takes a span or units: advance('10m') or advance(minutes=10)")
        how_far = seconds(timedelta(**units) if span is None else span)
        self._control.request("POST", "/clock", {"advance": how_far})

    def real(self) -> None:
        """Follows the machine's clock again."""
        self._control.request("POST", "/clock", {"real": True})

    def now(self) -> float:
        """Unix seconds, as the emulator sees them."""
        return float(self._control.state()["clock"]["now"])


class FaultControl:
    """Failures on purpose."""

    def __init__(self, control: EmulatorControl) -> None:
        self._control = control

    def next(
        self,
        part: Part,
        *,
        status: int | None = None,
        delay: float | str | timedelta | None = None,
        times: int = 1,
    ) -> None:
        """The next calls that need a part fail, or are slow.

        Args:
            part: ``chain``, ``billing``, ``runtime``, ``cpu`` or ``triggers``.
            status: HTTP status to answer; the part's own when None.
            delay: How long each call waits first.
            times: How many calls.
        """
        self._inject(part, status, delay, times)

    def until_cleared(
        self, part: Part, *, status: int | None = None, delay: float | str | timedelta | None = None
    ) -> None:
        """As `next`, but every call until `clear`."""
        self._inject(part, status, delay, None)

    def clear(self) -> None:
        """Everything works again."""
        self._control.request("DELETE", "/faults")

    def _inject(self, part: Part, status: int | None, delay: float | str | timedelta | None, times: int | None) -> None:
        delay_ms = None if delay is None else _milliseconds(delay)
        self._control.request("POST", "/faults", _given(part=part, status=status, delay_ms=delay_ms, times=times))


def _given(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _milliseconds(span: float | str | timedelta) -> int:
    return round(seconds(span) * 1000)


def _read(status: int, text: str, path: str) -> Any:
    try:
        answer = json.loads(text) if text else None
    except ValueError:
        raise ControlRefused(
            status, f"{path} answered {status} with something that is no JSON", hint="Is this address an emulator's?"
        ) from None
    if status < 400:  # noqa: PLR2004 - where HTTP's errors begin
        return answer
    if isinstance(answer, dict):
        raise ControlRefused(status, str(answer.get("message", answer)), hint=str(answer.get("fix", "")))
    raise ControlRefused(status, str(answer))
