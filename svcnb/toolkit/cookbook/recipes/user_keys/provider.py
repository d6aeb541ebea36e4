"""Identity provider for the tests and the notebook, which signs tokens like a real provider (JWT with ES256K)."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from typing import Any, Final

from eth_account import Account

ISSUER: Final = "https://identity.example"
AUDIENCE: Final = "user-accounts"


class IdentityProvider:
    """Identity provider that signs a token for each user who signs in.

    Names that differ in one character belong to different users.
    """

    def __init__(self) -> None:
        self._key = Account.create()

    @property
    def address(self) -> str:
        """Address of the key that signs the tokens."""
        return str(self._key.address)

    def sign_in(self, name: str, approved: str, *, header: dict[str, str] | None = None, **claims: Any) -> str:
        """Returns a token for a user and one order. The token expires after 5 minutes.

        Args:
            name: Name of the user who signed in.
            approved: Digest of the order that the user approved.
            header: Header of the token, for tests. None means a header with the algorithm ES256K.
            **claims: Claims that replace or extend the usual ones, for tests.
        """
        given = {"iss": ISSUER, "aud": AUDIENCE, "sub": name, "exp": int(time.time()) + 300, "nonce": approved} | claims
        text = ".".join(_encoded(json.dumps(part).encode()) for part in (header or {"alg": "ES256K"}, given))
        signed = self._key.unsafe_sign_hash(hashlib.sha256(text.encode()).digest())
        return f"{text}.{_encoded(signed.r.to_bytes(32) + signed.s.to_bytes(32))}"


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
