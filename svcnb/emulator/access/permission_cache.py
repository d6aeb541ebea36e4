"""Cache of the keys, accounts and permissions that the contract stores.

The contract is the source of truth. The module caches the results of the contract's view functions until an event
reports a change. ``grant_delay_ms`` delays new keys and grants, as the caches of the real service do. See
docs/service/permissions.md#delay-of-grants.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from svcnb.emulator.chain.errors import ContractRevert
from svcnb.emulator.chain.events import RESET, ChainEvent
from svcnb.emulator.errors import EndpointFailure, StructuredError
from svcnb.emulator.http.routing import Caller
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.settings import Settings
from svcnb.protocol.hashes import key_hash, usage_key_bytes, usage_key_hash
from svcnb.protocol.wire.values import looks_like_hash

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain

T = TypeVar("T")
_KEPT: Final = 20_000
_ADDRESS_BYTES: Final = 20
_IDENTITY_EVENTS: Final = frozenset(
    {
        "AccountCreated",
        "AccountConvertedToChainSecured",
        "ChainSecuredAccountOwnershipTransferred",
        "UsageApiKeySet",
        "UsageApiKeyRemoved",
    }
)

_Question: TypeAlias = tuple[str, int | None]
"""Name of a view function of the contract, and the index of the relevant value in the function's result.

The index None means the whole result.
"""

# For emulators that do not enforce expiration, because checkPermission accepts an expired key. The other view functions
# always reject such a key.
_EXECUTES: Final[_Question] = ("checkPermission", 3)
_USES: Final[_Question] = ("checkPermission", 5)
_USES_STRICTLY: Final[_Question] = ("checkPermission", 6)
_NO_WALLET: Final = "0x" + "00" * 20


class PermissionCache:
    """Cache of keys, accounts and permissions.

    Args:
        settings: Settings with the permission rules and the delay of grants.
        chain: The chain with the contract.
        clock: Clock for the expiration of keys.
    """

    def __init__(self, settings: Settings, chain: Chain, clock: Clock) -> None:
        self._settings = settings
        self._chain = chain
        self._clock = clock
        self._callers: _RecentResults[Caller] = _RecentResults()
        self._answers: _RecentResults[Any] = _RecentResults()
        self._version = 0
        self._delay = GrantDelay(settings.grant_delay_ms, settings.grant_delay_jitter_ms)
        chain.on_event(self._changed)

    # --- accounts -----------------------------------------------------------------------------------------------

    async def resolve(self, presented_key: str) -> Caller:
        """Returns the hash of a key, and the account to which the key belongs.

        Args:
            presented_key: The key as received, without surrounding spaces.

        Raises:
            StructuredError: 401 if the key has the form of a hash (``0x`` and 64 hex digits), or belongs to no account.
            Unavailable: The chain does not respond.
        """
        _refuse_hash(presented_key)
        caller = await self.by_hash(key_hash(presented_key))
        if caller is not None and caller.is_master and len(presented_key.encode()) == _ADDRESS_BYTES:
            # The hash of an admin wallet is the hash of its 20 address bytes, which anyone can read on chain.
            raise _unknown_key()
        if caller is None and (secret := usage_key_bytes(presented_key)) is not None:
            # If the owner registered a key on chain, the contract stores the hash of the key's bytes
            # (docs/service/keys.md#identifiers).
            caller = await self.by_hash(usage_key_hash(secret))
        if caller is None:
            raise _unknown_key()
        return caller

    async def by_hash(self, hashed: int) -> Caller | None:
        """Returns the account that a hash identifies, or None if the hash does not belong to an account.

        Args:
            hashed: Hash of a key, or of an admin wallet's address.
        """
        if known := self._callers.get(hashed):
            return known
        version = self._version
        master, admin, billing, managed, is_master, is_alias, expiration = await self._chain.view(
            "resolveApiKeyHash", hashed
        )
        if not master:
            return None
        caller = Caller(
            key_hash=hashed,
            master_hash=master,
            is_master=is_master or is_alias,
            managed=managed,
            admin_address=admin.lower(),
            billing_wallet=billing.lower(),
            expiration=0 if is_master or is_alias else expiration,
        )
        if version == self._version:
            self._callers.put(hashed, caller)
        return caller

    def expired(self, caller: Caller) -> bool:
        """Returns whether a usage key has expired.

        A key expires exactly at its expiration time. A key with the expiration 0 never expires.

        Source: docs/service/permissions.md#expiration.
        """
        if caller.is_master or not caller.expiration or not self._settings.enforce_expiration:
            return False
        return self._clock.now() >= caller.expiration

    # --- permissions --------------------------------------------------------------------------------------------

    async def effective(self, caller: Caller) -> bool:
        """Returns whether a key is active. A new key becomes active after the delay of grants.

        Args:
            caller: The key and its account.
        """
        block = self._delay.last_effective_block()
        if block is None:
            return True
        found = await self._ask(block, "resolveApiKeyHash", caller.key_hash)
        return bool(found[0])

    async def may_execute(self, caller: Caller, action_hash: int) -> bool:
        """Returns whether a key may run an action (docs/service/permissions.md#running-an-action).

        Args:
            caller: The key and its account.
            action_hash: keccak256 hash of the action's CID.
        """
        if caller.is_master:
            return self._settings.master_key_may_execute
        if self.expired(caller):
            return False
        if not self._settings.enforce_expiration:
            return await self._now_and_effective(_EXECUTES, caller.key_hash, action_hash, _NO_WALLET)
        return await self._now_and_effective(("canExecuteActionFast", None), caller.key_hash, action_hash)

    async def require_may_execute(self, caller: Caller, cid: str, action_hash: int) -> None:
        """Rejects a key that is not permitted to run an action.

        Args:
            caller: The key and its account.
            cid: CID of the action.
            action_hash: keccak256 hash of the CID.

        Raises:
            StructuredError: 401 if the key was created recently and is not active yet.
            EndpointFailure: 403 if the key is not permitted.
        """
        if not await self.effective(caller):
            raise _unknown_key()
        if await self.may_execute(caller, action_hash):
            return
        named = f"action {cid} (hashed CID as a decimal number: {action_hash})"
        if self.expired(caller):
            raise EndpointFailure(
                403,
                f"the API key has expired, so the key is not authorized to execute {named}: use another key, or renew "
                "the key with update_usage_api_key",
            )
        raise EndpointFailure(
            403,
            f"the API key is not authorized to execute {named}: one group in its execute_in_groups must permit this "
            "action",
        )

    async def may_use_wallet(self, caller: Caller, action_hash: int, pkp: str) -> bool:
        """Returns whether an action that a key runs may use a wallet (docs/service/permissions.md#using-a-wallet).

        Args:
            caller: The key and its account.
            action_hash: keccak256 hash of the running action's CID.
            pkp: The wallet's address.
        """
        if caller.is_master:
            return self._settings.master_key_may_execute
        if self.expired(caller):
            return False
        strict = self._settings.wildcard_wallet_requires_group
        if not self._settings.enforce_expiration:
            question = _USES_STRICTLY if strict else _USES
        else:
            question = ("canUseWalletInActionStrict" if strict else "canUseWalletInActionFast", None)
        return await self._now_and_effective(question, caller.key_hash, action_hash, pkp)

    async def derivation_path(self, caller: Caller, pkp: str) -> int:
        """Returns the derivation path of a wallet, or 0 if the wallet is not registered in the caller's account."""
        try:
            return int(await self._ask(None, "getWalletDerivation", caller.master_hash, pkp))
        except ContractRevert:
            return 0  # the wallet belongs to another account

    def clear(self) -> None:
        """Clears the cache. Call this method after a reset or after the restore of a snapshot."""
        self._version += 1
        self._answers.clear()
        self._callers.clear()
        self._delay.clear()

    # --- requests -----------------------------------------------------------------------------------------------

    async def _now_and_effective(self, question: _Question, *arguments: Any) -> bool:
        if not await self._is_true(None, question, *arguments):
            return False
        block = self._delay.last_effective_block()
        return block is None or await self._is_true(block, question, *arguments)

    async def _is_true(self, block: int | None, question: _Question, *arguments: Any) -> bool:
        function, member = question
        try:
            found = await self._ask(block, function, *arguments)
        except ContractRevert:
            return False  # the owner deleted the key after the request began, for example during its run
        return bool(found if member is None else found[member])

    async def _ask(self, block: int | None, function: str, *arguments: Any) -> Any:
        asked = (block, function, arguments)
        if (known := self._answers.get(asked)) is not None:
            return known
        version = self._version
        found = await self._chain.view(function, *arguments, block=block)
        if version == self._version:
            self._answers.put(asked, found)
        return found

    def _changed(self, event: ChainEvent) -> None:
        if event.name == RESET:
            self.clear()
            return
        # Requests that started before this event can return stale data, so do not cache their results.
        self._version += 1
        self._answers.clear()
        if event.name in _IDENTITY_EVENTS:
            self._callers.clear()
        self._delay.note(event.name, event.block_number)


class _RecentResults(Generic[T]):
    """Cache of at most `_KEPT` results. A new result replaces the oldest result of a full cache."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        return self._entries.get(key)

    def put(self, key: Hashable, value: T) -> None:
        self._entries[key] = value
        if len(self._entries) > _KEPT:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        self._entries.clear()


GRANTS: Final = frozenset(
    {
        "UsageApiKeySet",
        "GroupAdded",
        "GroupUpdated",
        "ActionAddedToGroup",
        "PkpAddedToGroup",
        "WalletDerivationRegistered",
    }
)
"""Events that can extend the permissions of a key.

If such an event also removes permissions, the removal takes effect immediately, like every removal.
"""


class GrantDelay:
    """Record of the blocks whose grants have not taken effect yet.

    The permission cache checks each permission twice: for the newest block, and for the last block whose grants are all
    in effect. The key needs the permission in both blocks. Grants therefore take effect after the delay, and removals
    immediately.

    Args:
        delay_ms: Milliseconds until a grant takes effect. 0 means immediately.
        jitter_ms: Maximum random addition to the delay, in milliseconds.
        clock: Monotonic clock that returns seconds. The delay is real time, independent of the emulator's clock.
    """

    def __init__(self, delay_ms: int, jitter_ms: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay_s = delay_ms / 1000
        self._jitter_s = jitter_ms / 1000
        self._clock = clock
        self._late: dict[int, float] = {}

    def note(self, event: str, block: int) -> None:
        """If the event is in `GRANTS`, delays the effect of the permissions that the block grants.

        Args:
            event: Name of the event.
            block: Number of the block that contains the event.
        """
        if event in GRANTS and (self._delay_s or self._jitter_s):
            wait = self._delay_s + random.uniform(0, self._jitter_s)  # noqa: S311 - a delay is not secret
            self._late[block] = max(self._late.get(block, 0.0), self._clock() + wait)

    def clear(self) -> None:
        """Makes all delayed grants take effect immediately."""
        self._late.clear()

    def last_effective_block(self) -> int | None:
        """Returns the number of the last block whose grants are all in effect, or None if no grant is delayed."""
        if not self._late:
            return None
        now = self._clock()
        for block in [block for block, until in self._late.items() if until <= now]:
            del self._late[block]
        return min(self._late) - 1 if self._late else None


def _refuse_hash(key: str) -> None:
    """Rejects a key that has the form of a precomputed hash. Hashes are public, so they are not credentials.

    Args:
        key: The key as received.

    Raises:
        StructuredError: 401 if the key is ``0x`` followed by 64 hex digits.
    """
    if looks_like_hash(key):
        raise StructuredError(
            401,
            "the API key looks like a precomputed hash (0x and 64 hex digits), but a hash is not a credential",
            fix=(
                "Send the API key itself. For billing calls of a ChainSecured account, send X-Wallet-Auth signed by "
                "the admin wallet."
            ),
            docs="authentication",
            headers={"WWW-Authenticate": "Bearer"},
        )


def _unknown_key() -> StructuredError:
    """Returns the error for a key that does not belong to any account, or that is not active yet."""
    return StructuredError(
        401,
        (
            "the API key does not resolve to any account: it is mistyped, was deleted, is not active yet, or was never "
            "created"
        ),
        fix=(
            "Check the key. If the key is new, try again in a few seconds. Create an account with POST "
            "/core/v1/new_account, or a usage key with add_usage_api_key."
        ),
        docs="authentication",
        headers={"WWW-Authenticate": "Bearer"},
    )
