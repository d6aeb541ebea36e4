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
from svcnb.client.resources import trigger_configs, trigger_flows as flows
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
        triggers_url: Address of the service, the part before ``/api``. None means the value of SVC_TRIGGERS_URL.
        token: An existing token. If omitted, the client creates a new token, which a user must approve (`authorize`).
        config: Settings of a `Client` to share (`Client.config`), except its key and its headers.
        http_client: Your own `httpx.Client`, which you must close yourself.
        headers: Headers to send with every request to the service.

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
        self, *, timeout: float = flows.APPROVAL_TIMEOUT_S, open_page: Callable[[str], object] | None = None
    ) -> Me:
        """Opens the approval page in a browser, and waits until the user has approved the token.

        If the token is already approved, the method returns immediately. The client does not send the token before the
        approval.

        Args:
            timeout: Seconds to wait, ten minutes by default. The client checks the approval every two seconds.
            open_page: Function that receives the page's address instead of the browser, for example ``print``.

        Raises:
            TimedOut: No user approved the token in time. The page stays valid, so you can call `authorize` again.
        """
        if (user := (await self.who())) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return await self._session.drive(flows.until_approved(self._access, timeout))

    async def who(self) -> Me | None:
        """Returns the user who approved the token, or None if the token is not approved or was revoked."""
        return await self._session.drive(flows.who(self._access))

    async def tokens(self) -> Listing[TriggerToken]:
        """Returns the user's tokens, newest first, without their secrets."""
        return await self._session.drive(flows.tokens(self._access))

    async def revoke(self, token: TriggerToken | str | None) -> None:
        """Revokes a token permanently.

        Args:
            token: A token from `tokens`, or None for all of the user's tokens, including the token of this client.
        """
        await self._session.drive(flows.revoke(self._access, token))

    async def webhook(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates a trigger that runs its action for every POST request to `webhook_url`.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use. It needs permission to execute the action.
            **options: ``default_params``, ``max_runs_per_minute``, ``max_queued_runs``.

        Raises:
            InvalidArgument: The action is a CID without its source, the key is missing, or an option has the wrong
                type.
        """
        return await self._create(action, usage_key, "webhook", name=name, **options)

    async def schedule(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, *, cron: str, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates a trigger that runs its action on a schedule.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use.
            cron: Cron expression in UTC, with five fields, or with six if seconds come first. The trigger must not fire
                more often than every 30 seconds.
            **options: See `webhook`.

        Raises:
            InvalidArgument: ``cron`` is invalid. `webhook` lists the other causes.
        """
        return await self._create(
            action, usage_key, "schedule", name=name, config=trigger_configs.schedule_config(cron), **options
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
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use.
            chain: ``ethereum``, ``base``, ``arbitrum``, ``bsc`` or ``polygon``.
            contract: Address of the contract that emits the event.
            event: Event signature, ``Name(type,type)``. The method `event` explains a signature.
            topics: Up to three filters after topic0. Each is a 32-byte topic, a list of topics, or None for any topic.
            start_block: First block to read. If omitted, the service starts at a recent block.
            **options: See `webhook`.

        Raises:
            InvalidArgument: The event is not a signature. `webhook` lists the other causes.
        """
        config = trigger_configs.chain_config(chain, contract, event, topics, start_block)
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

        This costs two cents. Only the triggers service receives the key. An error's hint lists the created objects.

        Args:
            service: A client with the account's master key.
            action: An action or its source.
            name: Name of the trigger. The names of the group and the key are ``trigger`` followed by this name.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            config: Settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``.
            wallets: Wallets that the action can use.
            **options: See `webhook`.

        Raises:
            Forbidden: The client's key is not the account's master key.
            InvalidArgument: A required setting is missing or invalid. The client created nothing.
        """
        given = dict(config or {})
        return await service._session.drive(
            flows.create_for(self._access, action, kind, name=name, config=given, wallets=wallets, **options)
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
        """Creates a trigger of any kind from settings in the format of the service.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            config: Settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``.
            **options: See `webhook`.

        Raises:
            InvalidArgument: See `webhook`.
        """
        return await self._create(
            action, usage_key, kind, name=name, config=None if config is None else dict(config), **options
        )

    async def _create(self, action: ActionRef, usage_key: UsageKeySecret, kind: str, **members: Any) -> Trigger:
        return await self._session.drive(flows.create(self._access, action, usage_key, kind, **members))

    async def list(self) -> Listing[Trigger]:
        """Returns all triggers of the user, newest first."""
        return await self._session.drive(flows.listing(self._access))

    async def get(self, trigger: TriggerRef) -> Trigger:
        """Returns the current state of one trigger.

        Raises:
            NotFound: The trigger does not exist, or belongs to another user.
        """
        return await self._session.drive(flows.get(self._access, trigger))

    async def update(self, trigger: TriggerRef, **changes: Unpack[TriggerChanges]) -> Trigger:
        """Changes a trigger. Omitted values stay unchanged. A limit cannot be reset to None.

        Args:
            trigger: The trigger.
            **changes: ``name``, ``action``, ``usage_key``, ``default_params``, ``config``, ``kind``, ``enabled``,
                ``max_runs_per_minute``, ``max_queued_runs``. A new ``action`` needs the ``usage_key`` again.
        """
        return await self._session.drive(flows.update(self._access, trigger, **changes))

    async def enable(self, trigger: TriggerRef) -> Trigger:
        """Enables a trigger.

        Queued runs continue. Events that happened while the trigger was disabled do not start runs.
        """
        return await self.update(trigger, enabled=True)

    async def disable(self, trigger: TriggerRef) -> Trigger:
        """Disables a trigger. Queued runs stay queued."""
        return await self.update(trigger, enabled=False)

    async def delete(self, trigger: TriggerRef) -> None:
        """Deletes a trigger and its runs. Deleting the trigger again has no effect."""
        await self._session.drive(flows.delete(self._access, trigger))

    async def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """Returns runs, newest first. ``.to_frame()`` converts them to a pandas DataFrame.

        Args:
            trigger: The trigger.
            limit: Maximum number of runs, or None for all runs.
            offset: Number of the newest runs to skip.
        """
        return await self._session.drive(flows.runs(self._access, trigger, limit, offset))

    async def wait_for_run(self, trigger: TriggerRef, run: object = None, *, timeout: float = 60.0) -> TriggerRun:
        """Waits until a run has ended, and returns it even if it failed.

        Args:
            trigger: The trigger.
            run: The result of `fire`, a run, or the id of a run. None means the newest run.
            timeout: Seconds to wait. The service retries a failing run for up to 36 seconds.

        Raises:
            TimedOut: The run did not end in time.
        """
        return await self._session.drive(flows.wait_for_run(self._access, trigger, run, timeout))

    async def fire(
        self, trigger: TriggerRef, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> Accepted:
        """Sends a POST request to a webhook as an external sender would, without a token.

        Args:
            trigger: A webhook trigger.
            body: Body of the request. The client sends bytes and strings unchanged, and all other values as JSON.
            headers: Additional headers, for example the signature of a sender.

        Raises:
            RateLimited: The sender sent too many requests, or the queue is full.
            ServiceError: The trigger is disabled (410).
        """
        return await self._session.drive(flows.fire(self._config, self._access.url, trigger, body, headers))

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
