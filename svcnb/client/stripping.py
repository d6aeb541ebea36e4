"""Functions that remove secrets from JSON values before storage, by member name and by the form of the value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from svcnb.logs import MASK, redact

_SECRET_NAME: Final = re.compile(
    r"(?i)(?:pass(?:word|phrase|wd)|secret|token|mnemonic|seed|private|credential|authorization|cookie|bearer|jwt"
    r"|(?:api|usage|access|signing|encryption|auth|master)[_-]?key|\bkey\b|\bpin\b|\botp\b)"
)
_PUBLIC_HASH_NAME: Final = re.compile(r"(?i)hash|tx|transaction|topic|cid|root|digest|block|salt|nonce|\bid\b")
_WORD32: Final = re.compile(r"(?<![0-9a-fA-Fx])(?:0x)?[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_MNEMONIC: Final = re.compile(r"(?<![\w])(?:[a-z]{3,8}\s+){11,23}[a-z]{3,8}(?![\w])")
_SIGNED: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")
_PEM: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def strip(value: Any, name: str = "") -> Any:
    """Masks every secret and every possible secret in a JSON value.

    The function masks members whose names refer to a secret, and strings that look like a secret. Such strings are 32
    bytes in base64 or hex, words of a wallet's recovery phrase, signed tokens, and PEM keys. A 32-byte hex value stays
    if the member's name indicates a public value, for example ``transactionHash``.

    Args:
        value: Any JSON value.
        name: Name of the member that contains the value.

    Example:
        >>> strip({"to": "0x01", "apiKey": "c2VjcmV0"})
        {'to': '0x01', 'apiKey': '********'}
    """
    if isinstance(value, Mapping):
        return {str(key): strip(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strip(item, name) for item in value]
    if value is None or isinstance(value, (bool, float)):
        return value
    if names_secret(name):
        return MASK
    return strip_text(value, public=bool(_PUBLIC_HASH_NAME.search(name))) if isinstance(value, str) else value


def names_secret(name: str) -> bool:
    """Returns whether a member's name indicates a secret value.

    Args:
        name: Name of the member, for example ``apiKey``.
    """
    return bool(_SECRET_NAME.search(name)) and not _PUBLIC_HASH_NAME.search(name)


def strip_text(text: str, *, public: bool = False) -> str:
    """Masks everything in a string that looks like a secret.

    Args:
        text: Any string.
        public: Whether to keep 32-byte hex values.
    """
    text = redact(text)
    for pattern in (_PEM, _SIGNED, _MNEMONIC):
        text = pattern.sub(MASK, text)
    return text if public else _WORD32.sub(MASK, text)
