"""Handle that controls the state, snapshots, time, faults, money and runs of a running emulator."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from svcnb.checked import Checked
from svcnb.control.clock import ClockControl
from svcnb.control.faults import FaultControl
from svcnb.control.plane import ControlPlane, given, milliseconds
from svcnb.errors import InvalidArgument
from svcnb.renamed import renamed

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
    """Handle for a running emulator, on this machine or on another machine.

    Args:
        base_url: Address of the emulator, without ``/core/v1``.
        control_token: Token of the control plane. You can omit the token for an emulator that you run on this machine,
            unless you chose the token yourself.
        names: Properties from the line that the emulator prints when it is ready. The handle requests other properties
            from the emulator when needed.

    Attributes:
        base_url: Address of the emulator, without the prefix ``/core/v1`` of the API's paths.
        clock: Control of the time: ``clock.advance("10m")``.
        faults: Injected failures: ``faults.next("chain")``.
    """

    def __init__(
        self, base_url: str, *, control_token: str | None = None, names: Mapping[str, Any] | None = None
    ) -> None:
        self.base_url: str = base_url.rstrip("/")
        self._names: dict[str, Any] = dict(names or {})
        self._clients = ExitStack()
        self._control_token = control_token
        self._plane = ControlPlane(self.control_url, control_token)
        self.clock: ClockControl = ClockControl(self._plane)
        self.faults: FaultControl = FaultControl(self._plane)

    def __repr__(self) -> str:
        """Returns a representation without the port, so that notebook outputs are the same in every run."""
        return f"<{type(self).__name__}>"

    # --- addresses ----------------------------------------------------------------------------------------------

    @property
    def control_url(self) -> str:
        """Address of the control plane."""
        return str(self._names.get("control_url", f"{self.base_url}/_emulator"))

    @property
    def triggers_url(self) -> str:
        """Address of the triggers service, the part before ``/api``."""
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
        """Id of the chain that contains the AccountConfig contract (EIP-155)."""
        return int(self._known("chain_id"))

    @property
    def vocabulary(self) -> Vocabulary:
        """Names of the service and of the payment processor that this emulator uses."""
        from svcnb.protocol.vocabulary import Vocabulary

        settings = self._known("settings")
        return Vocabulary(service=settings["service_name"], processor=settings["processor_name"])

    # --- clients ------------------------------------------------------------------------------------------------

    def client(self, **options: Any) -> Client:
        """Returns a client of this emulator. `close` also closes the client.

        Args:
            **options: Arguments of `svcnb.Client` except the addresses, for example ``api_key``.
        """
        from svcnb.client import Client

        return self._clients.enter_context(Client(**self._client_options(options)))

    def async_client(self, **options: Any) -> AsyncClient:
        """Returns an asynchronous client of this emulator.

        The arguments are the same as for `client`. The caller must close the client.
        """
        from svcnb.client import AsyncClient

        return AsyncClient(**self._client_options(options))

    def close(self) -> None:
        """Closes the clients that `client` and `triggers` created.

        The emulator keeps running; `Emulator.stop` stops the emulator.
        """
        self._clients.close()

    def triggers(self, label: str = "emulator") -> TriggersClient:
        """Returns a client of this emulator's triggers service, with an approved token. `close` also closes the client.

        Args:
            label: Name of the token in the list of tokens.
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
            owner: Wallet that signs the transactions: a `LocalSigner` or an eth-account account. With None, the
                returned object can only read.

        Raises:
            ChainError: web3 is not installed.
            InvalidArgument: The private key of ``owner`` is not in this process.
        """
        from svcnb.client.chain.web3_objects import make_web3

        return make_web3(self.rpc_url, owner)

    # --- state --------------------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Sends one request to the control plane, for code that forwards requests.

        Args:
            method: ``GET``, ``POST``, ``PUT``, ``PATCH`` or ``DELETE``.
            path: Path below ``/_emulator``.
            body: JSON body, or None for no body.

        Returns:
            Parsed JSON of the response.

        Raises:
            InvalidArgument: The method is not allowed, or the body cannot be encoded as JSON.
            EmulatorUnreachable: The emulator does not respond.
            ControlRefused: The response is an error.
        """
        return self._plane.request(method, path, body)

    def state(self) -> dict[str, Any]:
        """Returns all readable properties of the emulator, without secrets."""
        return dict(self._plane.request("GET", "/state"))

    def reset(self) -> None:
        """Restores the initial state: no accounts, no faults, and a new chain. Keeps the snapshots.

        The clock and the policy for outbound requests get their configured values again.
        """
        self._plane.request("POST", "/reset", {})

    def snapshot(self, name: str) -> None:
        """Saves the database, the chain, the clock and the random number generators in one snapshot.

        Args:
            name: Name of the snapshot. The call replaces an older snapshot with the same name.
        """
        self._plane.request("POST", f"/snapshots/{_named(name)}", {})

    def restore(self, name: str) -> None:
        """Restores a snapshot.

        Args:
            name: Name of a snapshot in `snapshots`.

        Raises:
            ControlRefused: There is no snapshot with that name (404), or the snapshot cannot be restored (409).
        """
        self._plane.request("POST", f"/snapshots/{_named(name)}/restore", {})

    def delete_snapshot(self, name: str) -> None:
        """Deletes a snapshot.

        Args:
            name: Name of a snapshot in `snapshots`.

        Raises:
            ControlRefused: There is no snapshot with that name (404).
        """
        self._plane.request("DELETE", f"/snapshots/{_named(name)}")

    def forget(self, name: str) -> None:
        """Deprecated name of `delete_snapshot`."""
        renamed("emulator.forget", "emulator.delete_snapshot")
        self.delete_snapshot(name)

    def snapshots(self) -> Any:
        """Returns a list with one dictionary per snapshot, oldest first.

        ``name`` is the name of the snapshot. ``taken_at`` is the machine's time in Unix seconds.
        """
        return self._plane.request("GET", "/snapshots")

    # --- money and wallets --------------------------------------------------------------------------------------

    def faucet(self, address: str, wei: int | None = None) -> int:
        """Adds ETH to an address on the emulator's own chain.

        Args:
            address: Address that receives the ETH.
            wei: Amount in wei. None adds ten ETH.

        Returns:
            The added amount in wei.
        """
        # Send a string, because JSON numbers above 2^53 are not exact in many languages.
        body = given(address=address, wei=None if wei is None else str(wei))
        return int(self._plane.request("POST", "/faucet", body)["wei"])

    def credit(self, wallet_address: str, cents: int) -> int:
        """Adds credit without a payment, for tests and courses.

        Args:
            wallet_address: Address of the account's billing wallet, for example ``account.wallet_address``.
            cents: Amount in US cents.

        Returns:
            The new credit in US cents.
        """
        return int(
            self._plane.request("POST", "/credit", {"wallet_address": wallet_address, "cents": cents})["credit_cents"]
        )

    def processor(
        self, payment_intent_id: str, outcome: Outcome = "succeeded", *, delay: float | str | timedelta | None = None
    ) -> Any:
        """Sets the outcome of a payment, as a user does on the processor's hosted page, and returns the payment.

        Args:
            payment_intent_id: Id of the payment intent, ``pi_...``.
            outcome: Outcome of the payment: ``succeeded``, ``failed``, or ``processing``. A payment with the outcome
                ``processing`` does not end until another call of this method.
            delay: Time until the outcome, in seconds or as a string such as ``"2m"``. None completes the payment
                immediately.

        Raises:
            ControlRefused: There is no payment with this id (404), or its status can no longer change (400).
        """
        body = given(outcome=outcome, delay_ms=None if delay is None else milliseconds(delay))
        return self._plane.request("POST", f"/processor/{quote(payment_intent_id, safe='')}", body)

    def contract_wallet(self, owner: str) -> str:
        """Deploys an ERC-1271 wallet.

        Args:
            owner: Address whose signatures the wallet accepts.

        Returns:
            Address of the wallet.
        """
        return str(self._plane.request("POST", "/contract-wallets", {"owner": owner})["address"])

    # --- actions and triggers -----------------------------------------------------------------------------------

    def approve_agent(self, challenge: str, label: str | None = None) -> Any:
        """Approves a token for the emulator's default user, as this user does on the approval page.

        Args:
            challenge: SHA-256 hash of the token, in base64url without padding.
            label: Name for the token in the list of tokens. If omitted, the name is empty.

        Returns:
            A dictionary with ``ok`` and ``user_email``, the e-mail address of the user.

        Raises:
            ControlRefused: The challenge is invalid (400).
        """
        return self._plane.request("POST", "/agents/approve", given(challenge=challenge, label=label))

    def runs(self, *, limit: int = 50, offset: int = 0) -> list[dict[str, Any]]:
        """Returns runs with their logs, newest first, including failed and rejected runs.

        Args:
            limit: Maximum number of runs. The result contains fewer runs if their texts are long.
            offset: Number of the newest runs to skip.
        """
        return list(self._plane.request("GET", f"/runs?limit={limit:d}&offset={offset:d}")["runs"])

    def run_record(self, request_id: str) -> dict[str, Any]:
        """Returns one run with its logs and its trace.

        Args:
            request_id: Request id of the run; see `Run.request_id`.

        Raises:
            ControlRefused: There is no run with this id (404).
        """
        return dict(self._plane.request("GET", f"/runs/{quote(request_id, safe='')}"))

    def network(self, policy: Policy, file: str | None = None) -> Any:
        """Sets the policy for outbound requests of actions, and returns a dictionary with ``policy`` and ``file``.

        Args:
            policy: ``allow``, ``deny``, ``record`` to a file, or ``replay`` from a file.
            file: Path of the recording on the emulator's machine, which ``record`` and ``replay`` require.

        Raises:
            ControlRefused: The file is missing, cannot be used, or is not a recording (400).
        """
        return self._plane.request("POST", "/network", given(policy=policy, file=file))

    def connection(self) -> dict[str, Any]:
        """Returns a dictionary with the addresses and the secret control token.

        With these values, another process can create a handle: ``EmulatorControl(base_url, control_token=...)``.
        """
        return self._names | {"base_url": self.base_url, "control_token": self._control_token}

    def _known(self, name: str) -> Any:
        if name not in self._names:
            self._names |= self.state()
        return self._names[name]


def _named(snapshot: str) -> str:
    if not snapshot or "/" in snapshot:
        raise InvalidArgument(
            f"invalid snapshot name {snapshot[:80]!r}: expected a name that is not empty and has no slashes, for "
            "example 'after-setup'"
        )
    return quote(snapshot, safe="")
