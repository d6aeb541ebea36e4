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
    """The triggers service, synchronously.

    Args:
        triggers_url: Its address, the part before ``/api``; SVC_TRIGGERS_URL when left out.
        token: A token made before; a new one, to be approved by `authorize`, when left out.
        config: Settings of a `Client` to share (`Client.config`), except its key and its headers.
        http_client: An `httpx.Client` of your own; it stays open.
        headers: Sent with every request to the service.

    Raises:
        ConfigError: There is no address, or the token cannot be one.

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

        Returns at once when the token is approved already. The token itself is never sent before.

        Args:
            timeout: Seconds to wait, ten minutes unless told otherwise; asked every two seconds.
            open_page: Called with the page's address instead of the browser, for example ``print``.

        Raises:
            TimedOut: Nobody approved in time; the page can still be used, and `authorize` called again.
        """
        if (user := (await self.who())) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return await self._session.drive(flows.until_approved(self._door, timeout))

    async def who(self) -> Me | None:
        """The user who approved the token, or None when nobody has, or it was revoked."""
        return await self._session.drive(flows.who(self._door))

    async def tokens(self) -> Listing[TriggerToken]:
        """Returns the user's tokens, newest first; never the tokens themselves."""
        return await self._session.drive(flows.tokens(self._door))

    async def revoke(self, token: TriggerToken | str | None) -> None:
        """Ends a token for ever.

        Args:
            token: One from `tokens`, or None for all of the user's tokens, this one included.
        """
        await self._session.drive(flows.revoke(self._door, token))

    async def webhook(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates a trigger that runs its action for every post to `webhook_url`.

        Args:
            name: What people call it.
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
        """Creates a trigger that runs its action by the clock.

        Args:
            name: What people call it.
            action: An action or its source.
            usage_key: The key that the runs use.
            cron: Five fields, or six with seconds in front, UTC; at least 30 seconds between ticks.
            **options: As in `webhook`.

        Raises:
            InvalidArgument: As in `webhook`, or ``cron`` cannot be used.
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
            name: What people call it.
            action: An action or its source.
            usage_key: The key that the runs use.
            chain: ``ethereum``, ``base``, ``arbitrum``, ``bsc`` or ``polygon``.
            contract: Address of the contract that emits it.
            event: ``Name(type,type)``; `event` of this client explains it.
            topics: Up to three filters after topic0: a 32-byte topic, a list of them, or None for any.
            start_block: Where to begin; shortly before now when left out.
            **options: As in `webhook`.

        Raises:
            InvalidArgument: As in `webhook`, or the event is no signature.
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
        """Creates a trigger with all it needs: a group that permits the action, and a key that can only execute there.

        The key goes to the triggers service and nowhere else. Costs two cents. Should a step fail, the error says what
        was already made.

        Args:
            service: A client with the account's master key.
            action: An action or its source.
            name: What people call the trigger; group and key are named after it.
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
        """Creates a trigger of any kind from its settings as the service has them.

        Args:
            name: What people call it.
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
        """Changes a trigger; what is left out stays, and a limit cannot be taken back to none.

        Args:
            trigger: The trigger.
            **changes: ``name``, ``action``, ``usage_key``, ``default_params``, ``config``, ``kind``, ``enabled``,
                ``max_runs_per_minute``, ``max_queued_runs``. A new ``action`` needs the ``usage_key`` again.
        """
        return await self._session.drive(flows.update(self._door, trigger, **changes))

    async def enable(self, trigger: TriggerRef) -> Trigger:
        """Lets a trigger fire again. What happened while it was disabled starts no runs; queued runs go on."""
        return await self.update(trigger, enabled=True)

    async def disable(self, trigger: TriggerRef) -> Trigger:
        """Stops a trigger from firing. Queued runs wait."""
        return await self.update(trigger, enabled=False)

    async def delete(self, trigger: TriggerRef) -> None:
        """Deletes a trigger and its runs; deleting again changes nothing."""
        await self._session.drive(flows.delete(self._door, trigger))

    async def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """Returns runs, newest first; ``.to_frame()`` makes a frame of them.

        Args:
            trigger: The trigger.
            limit: How many at most; None for all.
            offset: How many of the newest to skip.
        """
        return await self._session.drive(flows.runs(self._door, trigger, limit, offset))

    async def wait_for_run(self, trigger: TriggerRef, run: object = None, *, timeout: float = 60.0) -> TriggerRun:
        """Waits until a run has ended, well or not.

        Args:
            trigger: The trigger.
            run: What `fire` returned, a run or its id; the newest run when left out.
            timeout: Seconds to wait. A failing run is tried again for up to 36 seconds.

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
            body: Bytes or text as they are, anything else as JSON.
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
