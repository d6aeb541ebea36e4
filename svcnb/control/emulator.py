"""Handle on a running emulator: reset, snapshots, time, faults, money, runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from svcnb.checked import Checked
from svcnb.client.renamed import renamed
from svcnb.control.clock import ClockControl
from svcnb.control.faults import FaultControl
from svcnb.control.plane import ControlPlane, given, milliseconds
from svcnb.errors import InvalidArgument

if TYPE_CHECKING:
    from web3 import Web3

    from svcnb.client import AsyncClient, Client
    from svcnb.client.aio.triggers import AsyncTriggersClient
    from svcnb.client.signing.eth import AnySigner
    from svcnb.client.triggers import TriggersClient
    from svcnb.protocol.vocabulary import Vocabulary

Outcome = Literal["succeeded", "failed", "processing"]
Policy = Literal["allow", "deny", "record", "replay"]


class EmulatorControl(Checked):
    """Handle on a running emulator, on any machine.

    Args:
        base_url: Its address, without ``/core/v1``.
        control_token: The secret of its control plane; found automatically for an emulator that this user runs on this
            machine.
        names: Known properties (the ready line); the others are read when they are needed.

    Attributes:
        base_url: Address of the API; the paths begin with ``/core/v1``.
        clock: Its time: ``clock.advance("10m")``.
        faults: Failures on purpose: ``faults.next("chain")``.
    """

    def __init__(
        self, base_url: str, *, control_token: str | None = None, names: Mapping[str, Any] | None = None
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._names: dict[str, Any] = dict(names or {})
        self._clients = ExitStack()
        self._control_token = control_token
        self._plane = ControlPlane(self.control_url, control_token)
        self.clock = ClockControl(self._plane)
        self.faults = FaultControl(self._plane)

    def __repr__(self) -> str:
        """Contains no port: it is the same in every run, so outputs of a notebook can be compared."""
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
        """Id of the contract's chain."""
        return int(self._known("chain_id"))

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the service and of the processor that this emulator uses."""
        from svcnb.protocol.vocabulary import Vocabulary

        settings = self._known("settings")
        return Vocabulary(service=settings["service_name"], processor=settings["processor_name"])

    # --- clients ------------------------------------------------------------------------------------------------

    def client(self, **options: Any) -> Client:
        """Returns a client of this emulator. `close` closes it; it may also be closed earlier.

        Args:
            **options: Arguments of `svcnb.Client` except the addresses, for example ``api_key``.
        """
        from svcnb.client import Client

        return self._clients.enter_context(Client(**self._client_options(options)))

    def async_client(self, **options: Any) -> AsyncClient:
        """Returns an asynchronous client of this emulator; arguments as in `client`. The caller must close it."""
        from svcnb.client import AsyncClient

        return AsyncClient(**self._client_options(options))

    def close(self) -> None:
        """Closes the clients that `client` and `triggers` made. The emulator keeps running; see `Emulator.stop`."""
        self._clients.close()

    def triggers(self, label: str = "emulator") -> TriggersClient:
        """Returns a client of this emulator's triggers service with an approved token. `close` closes it.

        Args:
            label: Its name in the list of tokens.
        """
        from svcnb.client.triggers import TriggersClient

        client = self._clients.enter_context(TriggersClient(self.triggers_url))
        self.approve_agent(client.challenge, label)
        return client

    def async_triggers(self, label: str = "emulator") -> AsyncTriggersClient:
        """Asynchronous version of `triggers`. The caller must close the client."""
        from svcnb.client.aio.triggers import AsyncTriggersClient

        client = AsyncTriggersClient(self.triggers_url)
        self.approve_agent(client.challenge, label)
        return client

    def _client_options(self, chosen: dict[str, Any]) -> dict[str, Any]:
        addresses = {"base_url": self.base_url, "triggers_url": self.triggers_url, "rpc_url": self.rpc_url}
        return addresses | {"control_token": self._control_token, "vocabulary": self.vocabulary} | chosen

    def web3(self, owner: AnySigner | None = None) -> Web3:
        """Returns a web3 object that is connected to this emulator's chain.

        Args:
            owner: Wallet that signs what is sent: a `LocalSigner` or an eth-account account. None to read only.

        Raises:
            ChainError: web3 is not installed.
            InvalidArgument: The owner's key is not in this process.
        """
        from svcnb.client.chain.web3_objects import make_web3

        return make_web3(self.rpc_url, owner)

    # --- state --------------------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Makes one call of the control plane, for code that forwards calls.

        Args:
            method: ``GET``, ``POST`` or ``DELETE``.
            path: Below ``/_emulator``.
            body: Sent as JSON unless None.

        Raises:
            EmulatorUnreachable: Nothing responds.
            ControlRefused: The response is an error.
        """
        return self._plane.request(method, path, body)

    def state(self) -> dict[str, Any]:
        """Returns all readable properties of the emulator, without secrets."""
        return dict(self._plane.request("GET", "/state"))

    def reset(self) -> None:
        """Resets to the initial state: no accounts, the clock as it was set at start, a new chain."""
        self._plane.request("POST", "/reset", {})

    def snapshot(self, name: str) -> None:
        """Saves database and chain together.

        Args:
            name: Its name; an older snapshot with that name is replaced.
        """
        self._plane.request("POST", f"/snapshots/{_named(name)}", {})

    def restore(self, name: str) -> None:
        """Restores a snapshot.

        Args:
            name: One of `snapshots`.

        Raises:
            ControlRefused: There is no snapshot with that name (404).
        """
        self._plane.request("POST", f"/snapshots/{_named(name)}/restore", {})

    def delete_snapshot(self, name: str) -> None:
        """Deletes a snapshot.

        Args:
            name: One of `snapshots`.

        Raises:
            ControlRefused: There is no snapshot with that name (404).
        """
        self._plane.request("DELETE", f"/snapshots/{_named(name)}")

    def forget(self, name: str) -> None:
        """Deprecated name of `delete_snapshot`."""
        renamed("emulator.forget", "emulator.delete_snapshot")
        self.delete_snapshot(name)

    def snapshots(self) -> Any:
        """Returns the snapshots for `restore`, oldest first."""
        return self._plane.request("GET", "/snapshots")

    # --- money and wallets --------------------------------------------------------------------------------------

    def faucet(self, address: str, wei: int | None = None) -> int:
        """Adds ETH to an address on the local chain.

        Args:
            address: The receiver.
            wei: Amount in wei; ten ETH when None.

        Returns:
            The added amount in wei.
        """
        # As a string: in many languages JSON numbers are only exact up to 2^53.
        body = given(address=address, wei=None if wei is None else str(wei))
        return int(self._plane.request("POST", "/faucet", body)["wei"])

    def credit(self, wallet_address: str, cents: int) -> int:
        """Adds credit without a payment, for tests and teachers.

        Args:
            wallet_address: The account's billing wallet.
            cents: Amount in US cents.

        Returns:
            The resulting credit in cents.
        """
        return int(
            self._plane.request("POST", "/credit", {"wallet_address": wallet_address, "cents": cents})["credit_cents"]
        )

    def processor(
        self, payment_intent_id: str, outcome: Outcome = "succeeded", *, delay: float | str | timedelta | None = None
    ) -> Any:
        """Performs the action of a person on the processor's hosted page.

        Args:
            payment_intent_id: The intent, ``pi_...``.
            outcome: Outcome of the payment.
            delay: Time until then, in seconds or as ``"2m"``; at once when None.
        """
        body = given(outcome=outcome, delay_ms=None if delay is None else milliseconds(delay))
        return self._plane.request("POST", f"/processor/{quote(payment_intent_id, safe='')}", body)

    def contract_wallet(self, owner: str) -> str:
        """Deploys an ERC-1271 wallet.

        Args:
            owner: Address whose signatures it accepts.

        Returns:
            The wallet's address.
        """
        return str(self._plane.request("POST", "/contract-wallets", {"owner": owner})["address"])

    # --- actions and triggers -----------------------------------------------------------------------------------

    def approve_agent(self, challenge: str, label: str | None = None) -> Any:
        """Approves a token, as a person does on the approval page of the triggers service.

        Args:
            challenge: The base64url SHA-256 of the token.
            label: A name for it.
        """
        return self._plane.request("POST", "/agents/approve", given(challenge=challenge, label=label))

    def runs(self, *, limit: int = 50, offset: int = 0) -> list[dict[str, Any]]:
        """Returns executions with their logs, newest first, including failed and refused ones.

        Args:
            limit: Maximum number.
            offset: Number of executions to skip.
        """
        return list(self._plane.request("GET", f"/runs?limit={limit:d}&offset={offset:d}")["runs"])

    def run_record(self, request_id: str) -> dict[str, Any]:
        """Returns one execution with its logs and its trace.

        Args:
            request_id: As in `Run.request_id`.

        Raises:
            ControlRefused: There is no such execution (404).
        """
        return dict(self._plane.request("GET", f"/runs/{quote(request_id, safe='')}"))

    def network(self, policy: Policy, file: str | None = None) -> Any:
        """Sets the policy for outbound requests of actions.

        Args:
            policy: ``allow``, ``deny``, ``record`` into or ``replay`` from a file.
            file: The recording, a path on the emulator's machine.
        """
        return self._plane.request("POST", "/network", given(policy=policy, file=file))

    def connection(self) -> dict[str, Any]:
        """Returns the data for a handle in another process: addresses, names and the secret control token."""
        return self._names | {"base_url": self.base_url, "control_token": self._control_token}

    def _known(self, name: str) -> Any:
        if name not in self._names:
            self._names |= self.state()
        return self._names[name]


def _named(snapshot: str) -> str:
    if not snapshot or "/" in snapshot:
        raise InvalidArgument(f"{snapshot!r} cannot name a snapshot: take a word without slashes, as 'after-setup'")
    return quote(snapshot, safe="")
