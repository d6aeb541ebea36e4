"""Asynchronous versions of the classes of `svcnb.client.triggers`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from svcnb.client._http import AsyncTransport
from svcnb.client.config import Config
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.resources import trigger_flows as flows
from svcnb.client.resources.trigger_options import TriggerChanges, TriggerKind, TriggerOptions, UsageKeySecret
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession
from svcnb.client.triggers import Topics, TriggerRef, TriggersSettings

if TYPE_CHECKING:
    import httpx

    from svcnb.client.async_client import AsyncClient
    from svcnb.protocol.wire.triggers import Accepted


class AsyncTriggersClient(TriggersSettings):
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
        http_client: httpx.AsyncClient | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._open(triggers_url, token, config, headers)
        self._transport = AsyncTransport(self._config.base_url, client=http_client)
        self._session = AsyncSession(self._transport, self._config, [])

    async def authorize(
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
        if (user := (await self.who())) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return await self._session.drive(flows.until_approved(self._door, timeout))

    async def who(self) -> Me | None:
        """The user who approved the token; None if no one has, or if it was revoked."""
        return await self._session.drive(flows.who(self._door))

    async def tokens(self) -> Listing[TriggerToken]:
        """Returns the user's tokens, newest first, without their secrets."""
        return await self._session.drive(flows.tokens(self._door))

    async def revoke(self, token: TriggerToken | str | None) -> None:
        """Revokes a token permanently.

        Args:
            token: One from `tokens`, or None for all of the user's tokens, this one included.
        """
        await self._session.drive(flows.revoke(self._door, token))

    async def webhook(
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
        return await self._create(action, usage_key, "webhook", name=name, **options)

    async def schedule(
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
        return await self._create(
            action, usage_key, "schedule", name=name, config=flows.schedule_config(cron), **options
        )

    async def chain_event(
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
        return await self._create(action, usage_key, "chain_event", name=name, config=config, **options)

    async def create_for(
        self,
        service: AsyncClient,
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
        return await service._session.drive(
            flows.create_for(self._door, action, kind, name=name, config=given, wallets=wallets, **options)
        )

    async def create(
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
        return await self._create(
            action, usage_key, kind, name=name, config=None if config is None else dict(config), **options
        )

    async def _create(self, action: ActionRef, usage_key: UsageKeySecret, kind: str, **members: Any) -> Trigger:
        return await self._session.drive(flows.create(self._door, action, usage_key, kind, **members))

    async def list(self) -> Listing[Trigger]:
        """Returns all triggers of the user, newest first."""
        return await self._session.drive(flows.listing(self._door))

    async def get(self, trigger: TriggerRef) -> Trigger:
        """Returns one trigger as it is now.

        Raises:
            NotFound: There is none, or it belongs to another user.
        """
        return await self._session.drive(flows.get(self._door, trigger))

    async def update(self, trigger: TriggerRef, **changes: Unpack[TriggerChanges]) -> Trigger:
        """Changes a trigger; omitted values stay. A limit cannot be reset to None.

        Args:
            trigger: The trigger.
            **changes: ``name``, ``action``, ``usage_key``, ``default_params``, ``config``, ``kind``, ``enabled``,
                ``max_runs_per_minute``, ``max_queued_runs``. A new ``action`` needs the ``usage_key`` again.
        """
        return await self._session.drive(flows.update(self._door, trigger, **changes))

    async def enable(self, trigger: TriggerRef) -> Trigger:
        """Enables a trigger. Events from the time while it was disabled start no runs; queued runs continue."""
        return await self.update(trigger, enabled=True)

    async def disable(self, trigger: TriggerRef) -> Trigger:
        """Stops a trigger from firing. Queued runs wait."""
        return await self.update(trigger, enabled=False)

    async def delete(self, trigger: TriggerRef) -> None:
        """Deletes a trigger and its runs; deleting again changes nothing."""
        await self._session.drive(flows.delete(self._door, trigger))

    async def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """Returns runs, newest first; ``.to_frame()`` returns them as a frame.

        Args:
            trigger: The trigger.
            limit: How many at most; None for all.
            offset: How many of the newest to skip.
        """
        return await self._session.drive(flows.runs(self._door, trigger, limit, offset))

    async def wait_for_run(self, trigger: TriggerRef, run: object = None, *, timeout: float = 60.0) -> TriggerRun:
        """Waits until a run has ended, successfully or not.

        Args:
            trigger: The trigger.
            run: The result of `fire`, a run, or its id; the newest run when left out.
            timeout: Seconds to wait. A failing run is retried for up to 36 seconds.

        Raises:
            TimedOut: It has not ended in time.
        """
        return await self._session.drive(flows.wait_for_run(self._door, trigger, run, timeout))

    async def fire(
        self, trigger: TriggerRef, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> Accepted:
        """Posts to a webhook as a sender does: without token, and exactly the bytes given.

        Args:
            trigger: A webhook trigger.
            body: Bytes and strings are sent unchanged, anything else as JSON.
            headers: For example the sender's signature.

        Raises:
            RateLimited: Too many posts, or the queue is full.
            ServiceError: 410, the trigger is disabled.
        """
        return await self._session.drive(flows.fire(self._config, self._door.url, trigger, body, headers))

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
