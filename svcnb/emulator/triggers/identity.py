"""Authentication of the triggers service, with bearer tokens, browser sessions, and approvals.

A client creates a token, and shows the user only the SHA-256 hash of the token. This hash is the challenge. A signed-in
user approves the challenge in a browser. The token is then valid until its revocation. The service stores only the
challenge, so a stolen database contains no tokens.

Source: docs/service/triggers.md#authorisation.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import uuid
from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import Store
from svcnb.emulator.triggers.errors import Refused, bad
from svcnb.emulator.triggers.store import rfc3339
from svcnb.protocol.limits import (
    APPROVAL_SESSION_S,
    MAX_TOKEN_LABEL_CHARS,
    MAX_TRIGGERS_TOKEN,
    MIN_TRIGGERS_TOKEN,
    is_triggers_token,
)

DEFAULT_EMAIL: Final = "owner@localhost"
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_EMAIL: Final = re.compile(r"[^@\s\x00-\x1f]{1,64}@[^@\s\x00-\x1f]{1,190}\Z")
_NAMESPACE: Final = uuid.UUID("a2b1f1f4-93a5-5a0c-8d0d-6a4d5fd1c2b7")
_USED_EVERY_S: Final = 60


@dataclass(frozen=True)
class User:
    """User of the triggers service.

    Attributes:
        id: UUID, derived from the e-mail address.
        email: E-mail address in lowercase, with which the user signs in.
    """

    id: str
    email: str


def challenge_of(token: str) -> str:
    """Returns the challenge of a token. The challenge is the token's SHA-256 hash in base64url without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


def check_challenge(challenge: str) -> str:
    """Checks the format of a challenge, and returns the challenge.

    Raises:
        Refused: 400 ``invalid_challenge`` if the challenge is not 43 characters of base64url.
    """
    if not _CHALLENGE.match(challenge):
        raise bad(
            "invalid_challenge",
            f"invalid challenge {challenge[:60]!r}: expected the SHA-256 hash of the token, as 43 characters of "
            "base64url without padding. Open the page again from your client.",
        )
    return challenge


class Identity:
    """Users, tokens and sessions of the triggers service.

    Args:
        store: The database.
        clock: Clock for the timestamps of records and the age of sessions.
        session_secret: Key for session cookies, 32 bytes, derived from the emulator's root secret.
        auto_approve: Whether the first use of a well-formed token approves the token for the default user.
    """

    def __init__(self, store: Store, clock: Clock, session_secret: bytes, *, auto_approve: bool) -> None:
        self._store = store
        self._clock = clock
        self._secret = session_secret
        self._auto_approve = auto_approve

    # --- tokens -------------------------------------------------------------------------------------------------

    async def by_token(self, token: str) -> User:
        """Returns the user who approved a token. With ``auto_approve``, the first use of a token approves the token.

        Raises:
            Refused: 401 if the token is malformed, not approved or revoked.
        """
        if not is_triggers_token(token):
            raise _unauthorized(
                f"the bearer token is malformed: expected {MIN_TRIGGERS_TOKEN} to {MAX_TRIGGERS_TOKEN} printable ASCII "
                "characters without spaces"
            )
        challenge = challenge_of(token)
        user = await self._store.run(lambda connection: self._use(connection, challenge))
        if user is None and self._auto_approve:
            await self.approve(challenge, "approved automatically")
            user = await self._store.run(lambda connection: self._use(connection, challenge))
        if user is None:
            raise _unauthorized(
                "the bearer token is not approved, or was revoked: approve the token at /agent/authorize. If the token "
                "was revoked, approve a new token."
            )
        return user

    def _use(self, connection: Connection, challenge: str) -> User | None:
        row = connection.record(
            "SELECT t.seq, t.revoked_at, t.last_used_at, t.user_id, u.email "
            "FROM trigger_tokens AS t JOIN trigger_users AS u ON u.id = t.user_id WHERE t.challenge = :challenge",
            challenge=challenge,
        )
        if row is None or row["revoked_at"] is not None:
            return None
        now = self._clock.now()
        # A precision of one minute is sufficient, and avoids a write for each request.
        if row["last_used_at"] is None or now - row["last_used_at"] >= _USED_EVERY_S:
            connection.run("UPDATE trigger_tokens SET last_used_at = :now WHERE seq = :seq", now=now, seq=row["seq"])
        return User(row["user_id"], row["email"])

    async def approve(self, challenge: str, label: str = "", email: str = DEFAULT_EMAIL) -> User:
        """Approves the token of a challenge for a user, and returns this user.

        If a user has already approved the token, the earlier approval stays unchanged, even if the token was revoked.

        Args:
            challenge: Challenge of the token, 43 characters of base64url.
            label: Name that the user chose for the token, or an empty string. The method shortens a long name.
            email: E-mail address of the user whose triggers the token can use.

        Raises:
            Refused: 400 if the challenge or the e-mail address is invalid.
        """
        check_challenge(challenge)
        user = user_of(email)

        def work(connection: Connection) -> None:
            _ensure(connection, user)
            if not connection.rows("SELECT 1 FROM trigger_tokens WHERE challenge = :challenge", challenge=challenge):
                connection.insert(
                    "trigger_tokens",
                    id=str(uuid.uuid5(_NAMESPACE, challenge)),
                    challenge=challenge,
                    user_id=user.id,
                    label=connection.escaped(label.strip()[:MAX_TOKEN_LABEL_CHARS]),
                    created_at=self._clock.now(),
                )

        await self._store.run(work)
        return user

    async def listed(self, user: User) -> list[dict[str, Any]]:
        """Returns the records of a user's tokens, newest first. A record has an id and a label, but not the token."""
        query = "SELECT * FROM trigger_tokens WHERE user_id = :user ORDER BY seq DESC"
        return await self._store.run(
            lambda connection: [_shown(connection, row) for row in connection.records(query, user=user.id)]
        )

    async def revoke(self, user: User, token_id: str | None) -> int:
        """Revokes one token of a user, or all tokens of the user.

        Args:
            user: Owner of the tokens.
            token_id: Id of the token to revoke. None means all tokens of the user.

        Returns:
            The number of tokens that this call revoked. 0 if the user has no token with this id, or if the token was
            already revoked.
        """
        statement = "UPDATE trigger_tokens SET revoked_at = :now WHERE user_id = :user AND revoked_at IS NULL"
        if token_id is not None:
            statement += " AND id = :id"
        return await self._store.run(
            lambda connection: connection.run(statement, now=self._clock.now(), user=user.id, id=token_id)
        )

    # --- sessions -----------------------------------------------------------------------------------------------

    async def sign_in(self, email: str) -> str:
        """Starts a session of seven days, and returns the value of the session cookie.

        The first session for an e-mail address creates its user.

        Raises:
            Refused: 400 if the e-mail address is invalid.
        """
        user = user_of(email)
        await self._store.run(lambda connection: _ensure(connection, user))
        body = base64.urlsafe_b64encode(f"{self._clock.now_s()}:{user.email}".encode()).rstrip(b"=").decode()
        return f"{body}.{self._mac('session', body)}"

    def by_session(self, cookie: str) -> User | None:
        """Returns the user of a session, or None if the session has expired or the cookie is missing or forged."""
        body, _, mac = cookie.partition(".")
        if not mac or not hmac.compare_digest(mac.encode(), self._mac("session", body).encode()):
            return None
        since, _, email = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode().partition(":")
        return None if abs(self._clock.now() - int(since)) > APPROVAL_SESSION_S else user_of(email)

    def csrf(self, cookie: str) -> str:
        """Returns the CSRF token that forms of this session must contain. Other sites cannot compute the token."""
        return self._mac("csrf", cookie)

    def check_csrf(self, cookie: str, given: str) -> None:
        """Rejects a form without the CSRF token of the session. A form that another site created has no such token.

        Raises:
            Refused: 403 ``csrf_failed`` if the token is not the CSRF token of the session.
        """
        if not hmac.compare_digest(given.encode(), self.csrf(cookie).encode()):
            raise Refused(403, "csrf_failed", "the form does not belong to this session: load the page again")

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}\n{text}".encode(), hashlib.sha256).hexdigest()


def user_of(email: str) -> User:
    """Returns the user who has the given e-mail address, without regard to case and surrounding whitespace.

    Raises:
        Refused: 400 ``invalid_email`` if the address does not have the form ``name@domain``.
    """
    normal = email.strip().lower()
    if not _EMAIL.match(normal):
        raise bad("invalid_email", f"invalid e-mail address {normal[:60]!r}: enter an address of the form name@domain")
    return User(str(uuid.uuid5(_NAMESPACE, normal)), normal)


def _ensure(connection: Connection, user: User) -> None:
    if not connection.rows("SELECT 1 FROM trigger_users WHERE id = :id", id=user.id):
        connection.insert("trigger_users", id=user.id, email=user.email)


def _shown(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "label": connection.unescaped(row["label"]),
        "created_at": rfc3339(row["created_at"]),
        "last_used_at": rfc3339(row["last_used_at"]),
        "revoked_at": rfc3339(row["revoked_at"]),
    }


def _unauthorized(message: str) -> Refused:
    return Refused(401, "unauthorized", message)
