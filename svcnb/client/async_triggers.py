"""`AsyncTriggersClient`: the triggers service, awaited."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from svcnb.client._http import AsyncTransport
from svcnb.client.async_client import AsyncClient
from svcnb.client.config import Config
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.resources import trigger_flows as flows
from svcnb.client.resources.base import mirrors
from svcnb.client.resources.trigger_options import TriggerChanges, TriggerKind, TriggerOptions, UsageKeySecret
from svcnb.client.secret import Secret
from svcnb.client.session import AsyncSession
from svcnb.client.triggers import Topics, TriggerRef, TriggersClient, TriggersSettings

if TYPE_CHECKING:
    import httpx

    from svcnb.protocol.wire.triggers import Accepted

Service = AsyncClient


@mirrors(TriggersClient)
class AsyncTriggersClient(TriggersSettings):
    """The triggers service, asynchronously: as `TriggersClient`, awaited. Close it when done: ``async with``."""

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
        self,
        *,
        timeout: float = flows.APPROVAL_PATIENCE_S,  # noqa: ASYNC109 - the same argument as its twin's
        open_page: Callable[[str], object] | None = None,
    ) -> Me:
        """See `TriggersClient.authorize`."""
        if (user := await self.who()) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return await self._session.drive(flows.until_approved(self._door, timeout))

    async def who(self) -> Me | None:
        """See `TriggersClient.who`."""
        return await self._session.drive(flows.who(self._door))

    async def tokens(self) -> Listing[TriggerToken]:
        """See `TriggersClient.tokens`."""
        return await self._session.drive(flows.tokens(self._door))

    async def revoke(self, token: TriggerToken | str | None) -> None:
        """See `TriggersClient.revoke`."""
        await self._session.drive(flows.revoke(self._door, token))

    async def webhook(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """See `TriggersClient.webhook`."""
        return await self._create(action, usage_key, "webhook", name=name, **options)

    async def schedule(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, *, cron: str, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """See `TriggersClient.schedule`."""
        config = flows.schedule_config(cron)
        return await self._create(action, usage_key, "schedule", name=name, config=config, **options)

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
        """See `TriggersClient.chain_event`."""
        config = flows.chain_config(chain, contract, event, topics, start_block)
        return await self._create(action, usage_key, "chain_event", name=name, config=config, **options)

    async def create_for(
        self,
        service: Service,
        action: ActionRef,
        *,
        name: str,
        kind: TriggerKind = "webhook",
        config: Mapping[str, Any] | None = None,
        wallets: Iterable[WalletRef] = (),
        **options: Unpack[TriggerOptions],
    ) -> Trigger:
        """See `TriggersClient.create_for`."""
        given = dict(config or {})
        return await service._session.drive(  # noqa: SLF001 - the other half of this package
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
        """See `TriggersClient.create`."""
        return await self._create(
            action, usage_key, kind, name=name, config=None if config is None else dict(config), **options
        )

    async def _create(self, action: ActionRef, usage_key: UsageKeySecret, kind: str, **members: Any) -> Trigger:
        return await self._session.drive(flows.create(self._door, action, usage_key, kind, **members))

    async def list(self) -> Listing[Trigger]:
        """See `TriggersClient.list`."""
        return await self._session.drive(flows.listing(self._door))

    async def get(self, trigger: TriggerRef) -> Trigger:
        """See `TriggersClient.get`."""
        return await self._session.drive(flows.get(self._door, trigger))

    async def update(self, trigger: TriggerRef, **changes: Unpack[TriggerChanges]) -> Trigger:
        """See `TriggersClient.update`."""
        return await self._session.drive(flows.update(self._door, trigger, **changes))

    async def enable(self, trigger: TriggerRef) -> Trigger:
        """See `TriggersClient.enable`."""
        return await self.update(trigger, enabled=True)

    async def disable(self, trigger: TriggerRef) -> Trigger:
        """See `TriggersClient.disable`."""
        return await self.update(trigger, enabled=False)

    async def delete(self, trigger: TriggerRef) -> None:
        """See `TriggersClient.delete`."""
        await self._session.drive(flows.delete(self._door, trigger))

    async def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """See `TriggersClient.runs`."""
        return await self._session.drive(flows.runs(self._door, trigger, limit, offset))

    async def wait_for_run(
        self,
        trigger: TriggerRef,
        run: object = None,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109 - the same argument as its twin's
    ) -> TriggerRun:
        """See `TriggersClient.wait_for_run`."""
        return await self._session.drive(flows.wait_for_run(self._door, trigger, run, timeout))

    async def fire(
        self, trigger: TriggerRef, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> Accepted:
        """See `TriggersClient.fire`."""
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
