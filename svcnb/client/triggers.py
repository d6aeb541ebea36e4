"""`TriggersClient`: client of the triggers service, which runs actions automatically.

The triggers service is separate and has its own tokens. A client creates a token, and a user approves the token
once in a browser (`authorize`). Triggers run with a usage key, which the service stores and never returns.
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
from svcnb.client.config import Config, address, load
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import CronPreview, EventPreview, Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.references import ActionRef, WalletRef
from svcnb.client.resources import trigger_configs, trigger_flows as flows
from svcnb.client.resources.trigger_options import TriggerChanges, TriggerKind, TriggerOptions, UsageKeySecret
from svcnb.client.secret import Secret
from svcnb.client.session import SyncSession

if TYPE_CHECKING:
    import httpx

    from svcnb.protocol.wire.triggers import Accepted

TriggerRef = Trigger | str
Topics = Sequence[str | Sequence[str] | None] | None


class TriggersSettings(Checked):
    """Base class of `TriggersClient` and `AsyncTriggersClient`, with the methods that do not send a request."""

    _access: flows.ServiceAccess
    _config: Config

    def _open(
        self,
        triggers_url: str | None,
        token: str | Secret | None,
        config: Config | None,
        headers: Mapping[str, str] | None,
    ) -> None:
        url = triggers_url or (config.triggers_url if config else address("triggers_url"))
        self._access = flows.access_of(url, token)
        found = config or load(base_url=url, triggers_url=url)
        self._config = found.replace(base_url=self._access.url, api_key=None, headers=checked_headers(headers))

    @property
    def url(self) -> str:
        """Address of the triggers service, the part before ``/api``."""
        return self._access.url

    @property
    def token(self) -> Secret:
        """Token with which this client authenticates. To avoid a new approval, store ``token.reveal()`` securely."""
        return self._access.token

    @property
    def approval_url(self) -> str:
        """Address of the page where a signed-in user approves the token. The address contains only the token's hash."""
        return self._access.approval_url

    @property
    def challenge(self) -> str:
        """SHA-256 hash of the token in base64url. The hash identifies the token on the approval page."""
        return self._access.challenge

    def webhook_url(self, trigger: TriggerRef) -> str:
        """Returns the public address of a webhook. Anyone who has the address can send requests to the webhook."""
        return f"{self._access.url}/webhook/{trigger if isinstance(trigger, str) else trigger.id}"

    @staticmethod
    def cron(text: str, *, after: float | None = None, count: int = 10) -> CronPreview:
        """Returns the next times at which a schedule fires. The method sends no request to the service.

        Args:
            text: Cron expression in UTC with five fields. With six fields, the first field contains the seconds.
            after: Time in Unix seconds. The first result is after this time. None means the current time.
            count: Number of scheduled times to return.

        Raises:
            InvalidArgument: The text is not a schedule, or its times are less than 30 seconds apart.

        Example:
            >>> TriggersClient.cron("0 9 * * MON", after=0, count=1)
            CronPreview(cron='0 9 * * MON', sentence='At 09:00 on Monday (UTC)', times=('1970-01-05 09:00:00',))
        """
        return trigger_configs.preview_cron(text, time.time() if after is None else after, count)

    @staticmethod
    def event(signature: str) -> EventPreview:
        """Returns ``topic0`` (the first topic), the arguments and the warnings of an event signature. Sends no request.

        Args:
            signature: ``Name(type,type)``, or the whole declaration from the contract's source.

        Raises:
            InvalidArgument: The text is not an event signature.
        """
        return trigger_configs.preview_event(signature)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._access.url!r})"


class TriggersClient(TriggersSettings):
    """Synchronous client of the triggers service. The service runs actions automatically.

    Args:
        triggers_url: Address of the service, the part before ``/api``. None means the setting ``triggers_url`` of
            ``config``, or without ``config`` the same setting of the environment or the configuration file.
        token: An existing token. If omitted, the client creates a new token, which a user must approve (`authorize`).
        config: Settings of another client to share (``svc.config``), except its key and its headers.
        http_client: Your own `httpx.Client`, which you must close. None creates a client.
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
        http_client: httpx.Client | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._open(triggers_url, token, config, headers)
        self._transport = SyncTransport(self._config.base_url, client=http_client)
        self._session = SyncSession(self._transport, self._config, [])

    # --- authorisation ------------------------------------------------------------------------------------------

    def authorize(
        self, *, timeout: float = flows.APPROVAL_TIMEOUT_S, open_page: Callable[[str], object] | None = None
    ) -> Me:
        """Opens the approval page in a browser, waits until a user has approved the token, and returns the user.

        If the token is already approved, the method returns immediately.

        Args:
            timeout: Seconds to wait, ten minutes by default. The client checks the approval every two seconds.
            open_page: Function that receives the page's address instead of the browser, for example ``print``.

        Raises:
            TimedOut: No user approved the token in time. The page stays valid, so you can call `authorize` again.
        """
        if (user := self.who()) is not None:
            return user
        (open_page or webbrowser.open)(self.approval_url)
        return self._session.drive(flows.until_approved(self._access, timeout))

    def who(self) -> Me | None:
        """Returns the user who approved the token, or None if the token is not approved or was revoked."""
        return self._session.drive(flows.who(self._access))

    def tokens(self) -> Listing[TriggerToken]:
        """Returns the user's tokens, newest first, without their secrets."""
        return self._session.drive(flows.tokens(self._access))

    def revoke(self, token: TriggerToken | str | None) -> None:
        """Revokes a token permanently.

        Args:
            token: A token from `tokens` or its id. None revokes all tokens of the user, including this client's token.
        """
        self._session.drive(flows.revoke(self._access, token))

    # --- triggers -----------------------------------------------------------------------------------------------

    def webhook(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates and returns a trigger that runs its action for every POST request to `webhook_url`.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use. The key needs permission to execute the action.
            **options: ``default_params``, ``max_runs_per_minute``, ``max_queued_runs``; see `Trigger`.

        Raises:
            InvalidArgument: The action is a CID without its source, the key is missing, or an option has the wrong
                type.
        """
        return self._create(action, usage_key, "webhook", name=name, **options)

    def schedule(
        self, name: str, action: ActionRef, usage_key: UsageKeySecret, *, cron: str, **options: Unpack[TriggerOptions]
    ) -> Trigger:
        """Creates and returns a trigger that runs its action on a schedule.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use.
            cron: Cron expression in UTC with five fields. With six fields, the first field contains the seconds.
                The trigger must not fire more often than every 30 seconds.
            **options: See `webhook`.

        Raises:
            InvalidArgument: ``cron`` is invalid. `webhook` lists the other causes.
        """
        config = trigger_configs.schedule_config(cron)
        return self._create(action, usage_key, "schedule", name=name, config=config, **options)

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
        """Creates and returns a trigger that runs its action for every log of an event.

        Args:
            name: Name of the trigger.
            action: An action or its source.
            usage_key: The key that the runs use.
            chain: ``ethereum``, ``base``, ``arbitrum``, ``bsc`` or ``polygon``.
            contract: Address of the contract that emits the event.
            event: Event signature, ``Name(type,type)``. The method `event` explains a signature.
            topics: Up to three filters, for the topics after ``topic0``. A filter is a 32-byte topic, a list of topics,
                or None for any topic.
            start_block: First block to read. If omitted, the service starts 100 blocks before the newest block.
            **options: See `webhook`.

        Raises:
            InvalidArgument: The event is not a signature. `webhook` lists the other causes.
        """
        config = trigger_configs.chain_config(chain, contract, event, topics, start_block)
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
        """Creates a group that permits the action, a key for this group, and a trigger, and returns the trigger.

        The call costs two cents. The client sends the new key only to the triggers service. If the call fails, the hint
        of the error lists the objects that already exist.

        Args:
            service: A client with the account key.
            action: An action or its source.
            name: Name of the trigger. The names of the group and the key are ``trigger`` followed by this name.
            kind: ``webhook``, ``schedule`` or ``chain_event``.
            config: Settings for this kind of trigger, for example ``{"cron": "0 9 * * *"}``.
            wallets: Wallets that the action can use. Each wallet beyond the first ten costs one more cent.
            **options: See `webhook`.

        Raises:
            Forbidden: The client's key is not the account key.
            InvalidArgument: A required setting is missing or invalid. The client created nothing.
        """
        given = dict(config or {})
        return service._session.drive(  # noqa: SLF001 - another class of this package
            flows.create_for(self._access, action, kind, name=name, config=given, wallets=wallets, **options)
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
        """Creates and returns a trigger of any kind, from settings in the format of the service.

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
        given = None if config is None else dict(config)
        return self._create(action, usage_key, kind, name=name, config=given, **options)

    def _create(self, action: ActionRef, usage_key: UsageKeySecret, kind: str, **members: Any) -> Trigger:
        return self._session.drive(flows.create(self._access, action, usage_key, kind, **members))

    def list(self) -> Listing[Trigger]:
        """Returns all triggers of the user, newest first."""
        return self._session.drive(flows.listing(self._access))

    def get(self, trigger: TriggerRef) -> Trigger:
        """Returns one trigger with its current settings.

        Raises:
            NotFound: The trigger does not exist, or belongs to another user.
        """
        return self._session.drive(flows.get(self._access, trigger))

    def update(self, trigger: TriggerRef, **changes: Unpack[TriggerChanges]) -> Trigger:
        """Changes a trigger, and returns the changed trigger. Omitted values stay unchanged.

        ``max_runs_per_minute`` and ``max_queued_runs`` cannot be reset to None.

        Args:
            trigger: A `Trigger` or its id.
            **changes: ``name``, ``action``, ``usage_key``, ``default_params``, ``config``, ``kind``, ``enabled``,
                ``max_runs_per_minute``, ``max_queued_runs``. A new ``action`` needs the ``usage_key`` again.
        """
        return self._session.drive(flows.update(self._access, trigger, **changes))

    def enable(self, trigger: TriggerRef) -> Trigger:
        """Enables and returns a trigger. Queued runs continue. Events during the disabled period do not start runs."""
        return self.update(trigger, enabled=True)

    def disable(self, trigger: TriggerRef) -> Trigger:
        """Disables and returns a trigger. New events do not start runs. Queued runs stay queued."""
        return self.update(trigger, enabled=False)

    def delete(self, trigger: TriggerRef) -> None:
        """Deletes a trigger and its runs. Deleting the trigger again has no effect."""
        self._session.drive(flows.delete(self._access, trigger))

    # --- runs ---------------------------------------------------------------------------------------------------

    def runs(self, trigger: TriggerRef, *, limit: int | None = 100, offset: int = 0) -> Listing[TriggerRun]:
        """Returns the runs of a trigger, newest first. ``.to_frame()`` converts the runs to a pandas DataFrame.

        Args:
            trigger: A `Trigger` or its id.
            limit: Maximum number of runs, or None for all runs.
            offset: Number of the newest runs to skip.
        """
        return self._session.drive(flows.runs(self._access, trigger, limit, offset))

    def wait_for_run(self, trigger: TriggerRef, run: object = None, *, timeout: float = 60.0) -> TriggerRun:
        """Waits until a run has ended, and returns the run even if the run failed.

        Args:
            trigger: A `Trigger` or its id.
            run: The result of `fire`, a `TriggerRun`, or the id of a run. None means the newest run.
            timeout: Seconds to wait. The service retries a failing run for up to 36 seconds.

        Raises:
            TimedOut: The run did not end in time.
        """
        return self._session.drive(flows.wait_for_run(self._access, trigger, run, timeout))

    def fire(self, trigger: TriggerRef, body: object = None, *, headers: Mapping[str, str] | None = None) -> Accepted:
        """Sends a POST request to a webhook, without a token, as an external sender does. The result has a ``run_id``.

        Args:
            trigger: A `Trigger` of the kind ``webhook``, or its id.
            body: Request body. The client sends bytes and strings unchanged, and other values, including None, as JSON.
            headers: Additional headers, for example the sender's signature.

        Raises:
            RateLimited: Too many requests arrived within 60 seconds, or the queue of the trigger is full.
            ServiceError: The trigger is disabled (410).
        """
        return self._session.drive(flows.fire(self._config, self._access.url, trigger, body, headers))

    def close(self) -> None:
        """Closes the connections of this client. The triggers stay active."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
