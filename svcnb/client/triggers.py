"""`TriggersClient`: client of the triggers service, which runs actions automatically.

The triggers service is a separate service with its own tokens. A client creates a token, and a user approves it once in
a browser (`authorize`). Triggers run with a usage key, which the service stores and never shows again.
"""

from __future__ import annotations

import time
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from svcnb.checked import Checked
from svcnb.client._http import SyncTransport
from svcnb.client.client import Client
from svcnb.client.client_settings import checked_headers
from svcnb.client.config import Config, load
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import CronPreview, EventPreview, Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.resources import trigger_flows as flows
from svcnb.client.resources.trigger_options import TriggerChanges, TriggerKind, TriggerOptions, UsageKeySecret
from svcnb.client.secret import Secret
from svcnb.client.session import SyncSession

if TYPE_CHECKING:
    import httpx

    from svcnb.protocol.wire.triggers import Accepted

TriggerRef = Trigger | str
Topics = Sequence[str | Sequence[str] | None] | None


class TriggersSettings(Checked):
    """Methods of both clients that send no request."""

    _door: flows.Door
    _config: Config

    def _open(
        self,
        triggers_url: str | None,
        token: str | Secret | None,
        config: Config | None,
        headers: Mapping[str, str] | None,
    ) -> None:
        found = load(base_url=triggers_url, triggers_url=triggers_url) if config is None else config
        self._door = flows.door_of(triggers_url or found.triggers_url, token)
        self._config = found.replace(base_url=self._door.url, api_key=None, headers=checked_headers(headers))

    @property
    def url(self) -> str:
        """Address of the triggers service, the part before ``/api``."""
        return self._door.url

    @property
    def token(self) -> Secret:
        """The token. Save ``token.reveal()`` with other secrets to connect again without a new approval."""
        return self._door.token

    @property
    def approval_url(self) -> str:
        """The page where a signed-in user approves the token. It contains only the token's hash."""
        return self._door.approval_url

    @property
    def challenge(self) -> str:
        """The hash of the token, which identifies it at the service."""
        return self._door.challenge

    def webhook_url(self, trigger: TriggerRef) -> str:
        """Returns the public address of a webhook. Anyone who has the address can post to it."""
        return f"{self._door.url}/webhook/{trigger if isinstance(trigger, str) else trigger.id}"

    @staticmethod
    def cron(text: str, *, after: float | None = None, count: int = 10) -> CronPreview:
        """Returns when a schedule fires, without a request to the service.

        Args:
            text: Five fields, or six with seconds in front; UTC.
            after: Unix seconds to count from; now when left out.
            count: How many times to show.

        Raises:
            InvalidArgument: It is not a schedule, or it can fire twice within 30 seconds.

        Example:
            >>> TriggersClient.cron("0 9 * * MON", after=0, count=1)
            CronPreview(cron='0 9 * * MON', sentence='At 09:00 on Monday (UTC)', times=('1970-01-05 09:00:00',))
        """
        return flows.preview_cron(text, time.time() if after is None else after, count)

    @staticmethod
    def event(signature: str) -> EventPreview:
        """Returns the meaning of an event signature, without a request: topic0, argument names, warnings.

        Args:
            signature: ``Name(type,type)``, or the whole declaration from the contract's source.

        Raises:
            InvalidArgument: It is not a signature.
        """
        return flows.preview_event(signature)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._door.url!r})"


class TriggersClient(TriggersSettings):
    """Synchronous client of the triggers service.

    Args:
        triggers_url: Its address, the part before ``/api``; SVC_TRIGGERS_URL when left out.
        token: An existing token. When left out, a new one is created, which `authorize` gets approved.
        config: Settings of a `Client` to share (`Client.config`), except its key and its headers.
        http_client: An `httpx.Client` of your own; it stays open.
        headers: Sent with every request to the service.

    Raises:
        ConfigError: The address is missing, or the token is malformed.

    Example:
        ``triggers = svcnb.TriggersClient(emu.triggers_url); triggers.authorize()``
    """

    def __init__(
        self,
        triggers_url: str | None = None,
        *,
        token: str | Secret | None = None,
        config: Config | None = None,
        http_client: httpx.Client | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._open(triggers_url, token, config, headers)
        self._transport = SyncTransport(self._config.base_url, client=http_client)
        self._session = SyncSession(self._transport, self._config, [])

    # --- authorisation ------------------------------------------------------------------------------------------

    def authorize(
        self, *, timeout: float = flows.APPROVAL_PATIENCE_S, open_page: Callable[[str], object] | None = None
    ) -> Me:
        """Opens the approval page in a browser and waits until the user has approved the token.

        Returns at once if the token is already approved. The token itself is not sent before the approval.

        Args:
            timeout: Seconds to wait, ten minutes by default; checked every two seconds.
            open_page: Called with the page's address instead of the browser, for example ``print``.

        Raises:
            TimedOut: No one approved in time. The page stays valid, and `authorize` can be called again.
        """
        if (user := self.who()) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return self._session.drive(flows.until_approved(self._door, timeout))

    def who(self) -> Me | None:
        """The user who approved the token; None if no one has, or if it was revoked."""
        return self._session.drive(flows.who(self._door))

    def tokens(self) -> Listing[TriggerToken]:
        """Returns the user's tokens, newest first, without their secrets."""
        return self._session.drive(flows.tokens(self._door))

    def revoke(self, token: TriggerToken | str | None) -> None:
        """Revokes a token permanently.

        Args:
            token: One from `tokens`, or None for all of the user's tokens, this one included.
        """
        self._session.drive(flows.revoke(self._door, token))

    # --- triggers -----------------------------------------------------------------------------------------------

    def webhook(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates a trigger that runs its action for every post to `webhook_url`.

        Args:
            name: Its name.
            action: An action or its source.
            usage_key: The key that the runs use; it must be permitted to execute the action.
            **options: ``default_params``, ``max_runs_per_minute``, ``max_queued_runs``.

        Raises:
            InvalidArgument: A CID without its source, no key, or an option of the wrong type.
        """
        return self._create(action, usage_key, "webhook", name=name, **options)

    def schedule(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, *, cron: str, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates a trigger that runs its action on a schedule.

        Args:
            name: Its name.
            action: An action or its source.
            usage_key: The key that the runs use.
            cron: Five fields, or six with seconds in front, UTC; at least 30 seconds between ticks.
            **options: As in `webhook`.

        Raises:
            InvalidArgument: As in `webhook`, or ``cron`` is invalid.
        """
        return self._create(action, usage_key, "schedule", name=name, config=flows.schedule_config(cron), **options)

    def chain_event(
        self,
        name: str,
        action: ActionRef,
        usage_key: UsageKeySecret,
        *,
        chain: str,
        contract: str,
        event: str,
        topics: Topics = None,
        start_block: int | str | None = None,
        **options: Unpack[TriggerOptions],
    ) -> Trigger:
        """Creates a trigger that runs its action for every log of an event.

        Args:
            name: Its name.
            action: An action or its source.
            usage_key: The key that the runs use.
            chain: ``ethereum``, ``base``, ``arbitrum``, ``bsc`` or ``polygon``.
            contract: Address of the contract that emits it.
            event: ``Name(type,type)``; `event` of this client explains it.
            topics: Up to three filters after topic0: a 32-byte topic, a list of them, or None for any.
            start_block: First block to read; shortly before now when left out.
            **options: As in `webhook`.

        Raises:
            InvalidArgument: As in `webhook`, or the event is not a signature.
        """
        config = flows.chain_config(chain, contract, event, topics, start_block)
        return self._create(action, usage_key, "chain_event", name=name, config=config, **options)

    def create_for(
        self,
        service: Client,
        action: ActionRef,
        *,
        name: str,
        kind: TriggerKind = "webhook",
        config: Mapping[str, Any] | None = None,
        wallets: Iterable[WalletRef] = (),
        **options: Unpack[TriggerOptions],
    ) -> Trigger:
        """Creates a trigger, a group that permits its action, and a key that can only execute in that group.

        The key is only sent to the triggers service. Costs two cents. If a step fails, the error says what was already
        created.

        Args:
            service: A client with the account's master key.
            action: An action or its source.
            name: Name of the trigger, from which the names of group and key are made.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            config: Settings of the kind, for example ``{"cron": "0 9 * * *"}``.
            wallets: Wallets that the action may use.
            **options: As in `webhook`.

        Raises:
            Forbidden: The client's key is not the account's master key.
        """
        given = dict(config or {})
        return service._session.drive(  # noqa: SLF001 - the other half of this package
            flows.create_for(self._door, action, kind, name=name, config=given, wallets=wallets, **options)
        )

    def create(
        self,
        name: str,
        action: ActionRef,
        usage_key: UsageKeySecret,
        kind: TriggerKind,
        *,
        config: Mapping[str, Any] | None = None,
        **options: Unpack[TriggerOptions],
    ) -> Trigger:
        """Creates a trigger of any kind from its settings in the service's form.

        Args:
            name: Its name.
            action: An action or its source.
            usage_key: The key that the runs use.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            config: Settings of the kind, for example ``{"cron": "0 9 * * *"}``.
            **options: As in `webhook`.

        Raises:
            InvalidArgument: As in `webhook`.
        """
        return self._create(
            action, usage_key, kind, name=name, config=None if config is None else dict(config), **options
        )

    def _create(self, action: ActionRef, usage_key: UsageKeySecret, kind: str, **members: Any) -> Trigger:
        return self._session.drive(flows.create(self._door, action, usage_key, kind, **members))

    def list(self) -> Listing[Trigger]:
        """Returns all triggers of the user, newest first."""
        return self._session.drive(flows.listing(self._door))

    def get(self, trigger: TriggerRef) -> Trigger:
        """Returns one trigger as it is now.

        Raises:
            NotFound: There is none, or it belongs to another user.
        """
        return self._session.drive(flows.get(self._door, trigger))

    def update(self, trigger: TriggerRef, **changes: Unpack[TriggerChanges]) -> Trigger:
        """Changes a trigger; omitted values stay. A limit cannot be reset to None.

        Args:
            trigger: The trigger.
            **changes: ``name``, ``action``, ``usage_key``, ``default_params``, ``config``, ``kind``, ``enabled``,
                ``max_runs_per_minute``, ``max_queued_runs``. A new ``action`` needs the ``usage_key`` again.
        """
        return self._session.drive(flows.update(self._door, trigger, **changes))

    def enable(self, trigger: TriggerRef) -> Trigger:
        """Enables a trigger. Events from the time while it was disabled start no runs; queued runs continue."""
        return self.update(trigger, enabled=True)

    def disable(self, trigger: TriggerRef) -> Trigger:
        """Stops a trigger from firing. Queued runs wait."""
        return self.update(trigger, enabled=False)

    def delete(self, trigger: TriggerRef) -> None:
        """Deletes a trigger and its runs; deleting again changes nothing."""
        self._session.drive(flows.delete(self._door, trigger))

    # --- runs ---------------------------------------------------------------------------------------------------

    def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """Returns runs, newest first; ``.to_frame()`` returns them as a frame.

        Args:
            trigger: The trigger.
            limit: How many at most; None for all.
            offset: How many of the newest to skip.
        """
        return self._session.drive(flows.runs(self._door, trigger, limit, offset))

    def wait_for_run(self, trigger: TriggerRef, run: object = None, *, timeout: float = 60.0) -> TriggerRun:
        """Waits until a run has ended, successfully or not.

        Args:
            trigger: The trigger.
            run: The result of `fire`, a run, or its id; the newest run when left out.
            timeout: Seconds to wait. A failing run is retried for up to 36 seconds.

        Raises:
            TimedOut: It has not ended in time.
        """
        return self._session.drive(flows.wait_for_run(self._door, trigger, run, timeout))

    def fire(self, trigger: TriggerRef, body: object = None, *, headers: Mapping[str, str] | None = None) -> Accepted:
        """Posts to a webhook as a sender does: without token, and exactly the bytes given.

        Args:
            trigger: A webhook trigger.
            body: Bytes and strings are sent unchanged, anything else as JSON.
            headers: For example the sender's signature.

        Raises:
            RateLimited: Too many posts, or the queue is full.
            ServiceError: 410, the trigger is disabled.
        """
        return self._session.drive(flows.fire(self._config, self._door.url, trigger, body, headers))

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
