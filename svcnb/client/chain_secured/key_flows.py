"""Flows for usage keys of a ChainSecured account."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

from svcnb.client.calls import Call, Flow, act, ask, polling, require_number
from svcnb.client.chain_secured import mint
from svcnb.client.chain_secured.mint import HashForm, hash_of, permission_arguments
from svcnb.client.chain_secured.models import KeyCheck
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.errors import ChainError, InvalidArgument, ServiceError, SvcnbError, Unauthorized
from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import PERMISSION_FLAGS, PERMISSION_LISTS, UsageKey
from svcnb.client.record_schema import KEY_CHECK
from svcnb.client.references import GroupRef, KeyRef, key_reference
from svcnb.client.resources.reading import absent, texts
from svcnb.client.resources.usage_keys import with_numbers
from svcnb.client.secret import Secret
from svcnb.protocol.durations import seconds
from svcnb.protocol.hashes import uint256_hex
from svcnb.protocol.wire.values import looks_like_hash

Groups: TypeAlias = Iterable[GroupRef] | GroupRef
Span = float | str | timedelta

PROBE: Final = 'const main = () => "ok";'
"""Source of the action that `check` executes.

If the service rejects the action, the status of the error also shows whether the service found the key.
"""

_FIRST_POLL_S: Final = 0.1
_LONGEST_POLL_S: Final = 2.0


def create(
    account: Ownership,
    name: str,
    description: str,
    *,
    expires_in: Span | None,
    form: HashForm,
    verify: float | None,
    **permissions: Any,
) -> Flow[UsageKey]:
    """Requests a new key from the service, registers its wallet and the key on chain, and returns the key.

    If ``verify`` is not None, the flow also checks that the service finds the key.
    """
    if not name.strip():
        raise InvalidArgument("the usage key name is empty", hint='Pass a name: mine.usage_keys.create("runner").')
    if form not in ("bytes", "text"):
        raise InvalidArgument(
            f"invalid form {form!r}: expected 'bytes' or 'text'",
            hint="Pass form='bytes', as in the specification, or form='text' if the service requires it.",
        )
    require_number(verify or 0.0)
    numbers = with_numbers(permissions)
    expiration = yield from _expiration(account, expires_in)
    arguments = {"description": description, "permissions": numbers, "expiration": expiration, "form": form}
    record = yield from mint.begin(account, "usage key", name, **arguments)
    key = cast("UsageKey", (yield from mint.finish(account, record, keep=verify is not None)))
    if verify is not None:
        try:
            yield from _require_resolved(account, key, form, verify)
        except SvcnbError as error:
            error.add_note(
                f"A local record contains the secret of the usage key {name!r}. To get the key, call "
                f"svc.chain_secured.resume({record.id!r}, owner)."
            )
            raise
        yield from act(lambda: account.records.delete(record))
    return key


def _require_resolved(account: Ownership, key: UsageKey, form: HashForm, timeout: float) -> Flow[None]:
    found = yield from check(account, key, timeout)
    if not found.resolves:
        raise ChainError(
            f"the usage key {key.name!r} is on chain under the hash of its {form}, but the service did not find the "
            f"key within {timeout:g} s",
            name="NotResolved",
            hint=f"Create a new key with the other form: mine.usage_keys.create({key.name!r}, form="
            f"{'text' if form == 'bytes' else 'bytes'!r}). Then delete this key: mine.usage_keys.delete("
            f"{key.api_key_hash!r}).",
        )


def check(account: Ownership, key: KeyRef, timeout: float) -> Flow[KeyCheck]:
    """Executes an action repeatedly until the service finds the key or the timeout expires, and returns the result."""
    text = _secret(key)
    tag = f"{KEY_CHECK}{secrets.token_hex(8)}"
    polls = yield from polling(timeout, first=_FIRST_POLL_S, longest=_LONGEST_POLL_S)
    while True:
        try:
            yield from ask(
                Call(
                    "POST",
                    attrgetter("run_path"),
                    lambda body, _: body,
                    {"code": PROBE, "js_params": None},
                    key=False,
                    headers={"X-Api-Key": text, "X-Correlation-Id": tag},
                    timeout_class="run",
                )
            )
        except Unauthorized as error:
            answer, resolves = error.code, False
        except ServiceError as error:
            if error.status not in (402, 403):  # the service found the key, but rejected the run
                raise
            answer, resolves = error.code, True
        else:
            answer, resolves = "ran", True
        if resolves or not (yield from polls.wait()):
            break
    known = {entry.api_key_hash for entry in (yield from listing(account))}
    forms: tuple[HashForm, ...] = ("bytes", "text")
    form: HashForm | None = next((form for form in forms if _hashed_as(text, form) in known), None)
    return KeyCheck(resolves=resolves, form=form, answer=answer)


def listing(account: Ownership) -> Flow[Listing[UsageKey]]:
    """Reads and returns all usage keys of the account from the contract."""
    entries = yield from account.every("listApiKeys")
    return Listing([_key(entry) for entry in entries], of="usage keys", kind=UsageKey)


def update(
    account: Ownership, key: KeyRef, expires_in: Span | None, *, never: bool = False, **changes: Any
) -> Flow[UsageKey]:
    """Reads a key's record, applies the changes, writes the complete record on chain, and returns the new record."""
    old = yield from find(account, key)
    given = {name: value for name, value in changes.items() if value is not None}
    merged: dict[str, Any] = (
        {"name": old.name, "description": old.description} | old.permissions() | with_numbers(given)
    )
    expiration = old.expiration or 0
    if never:
        expiration = 0
    elif expires_in is not None:
        expiration = yield from _expiration(account, expires_in)
    yield from account.write(
        "setUsageApiKey",
        int(old.api_key_hash, 16),
        expiration,
        0,
        merged["name"],
        merged["description"],
        *permission_arguments(merged),
    )
    return UsageKey(api_key_hash=old.api_key_hash, expiration=expiration, **merged)


def update_metadata(account: Ownership, key: KeyRef, name: str | None, description: str | None) -> Flow[UsageKey]:
    """Changes a usage key's name or description, and returns the changed record. None keeps the current value."""
    old = yield from find(account, key)
    merged = texts(old, name, description)
    yield from account.write(
        "updateUsageApiKeyMetadata", int(old.api_key_hash, 16), merged["name"], merged["description"]
    )
    return old.model_copy(update=merged)


def find(account: Ownership, key: KeyRef) -> Flow[UsageKey]:
    """Returns the record of a key. The contract identifies the record by the hash of the key's bytes or of its text.

    Raises:
        NotFound: The account does not contain the key.
    """
    hashes = _hashes(key)
    for entry in (yield from listing(account)):
        if entry.api_key_hash in hashes:
            return entry
    raise absent(
        f"usage key with the hash {' or '.join(hashes)}",
        "Use a key from mine.usage_keys.list(). A deleted key cannot be restored.",
    )


def _key(entry: tuple[Any, ...]) -> UsageKey:
    (_, name, description), hashed, expiration, _, execute, *others = entry
    permissions = dict(zip((*PERMISSION_FLAGS, *PERMISSION_LISTS), [*others, execute], strict=True))
    return UsageKey(
        api_key_hash=uint256_hex(hashed), name=name, description=description, expiration=expiration, **permissions
    )


def _hashes(key: KeyRef) -> list[str]:
    if isinstance(key, UsageKey):
        return [key.api_key_hash.lower()]
    text = key_reference(key)
    if looks_like_hash(text):
        return [text.lower()]
    forms: tuple[HashForm, ...] = ("bytes", "text")
    return [hashed for form in forms if (hashed := _hashed_as(text, form)) is not None]


def _hashed_as(text: str, form: HashForm) -> str | None:
    try:
        return uint256_hex(hash_of(text, form))
    except InvalidArgument:
        return None


def _secret(key: KeyRef) -> str:
    found = key.usage_api_key if isinstance(key, UsageKey) else key
    text = (found.reveal() if isinstance(found, Secret) else found or "").strip()
    if text and not looks_like_hash(text):
        return text
    if isinstance(key, UsageKey):
        problem = f"the usage key {key.name!r}, but this object has no secret"
    else:
        problem = f"a usage key, but {text} is its hash" if text else "a usage key, but the string is empty"
    raise InvalidArgument(
        f"the check requires the secret of {problem}",
        hint="Pass the UsageKey that mine.usage_keys.create() returned, or the key string that you saved.",
    )


def _expiration(account: Ownership, expires_in: Span | None) -> Flow[int]:
    if expires_in is None:
        return 0
    try:
        span = seconds(expires_in)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(str(error), hint="Pass expires_in='30d', a number of seconds, or a timedelta.") from None
    if span < 1:
        raise InvalidArgument(
            f"invalid expires_in {expires_in!r}: expected at least 1 second",
            hint="Pass expires_in='30d', or None for a key that never expires.",
        )
    return int((yield from account.chain.time()) + span)
