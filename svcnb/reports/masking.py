"""Masking of secrets from a report's environment in everything that the report writes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from svcnb.client.errors import ConfigError
from svcnb.client.recorder import names_secret
from svcnb.client.secret import MASK
from svcnb.files import MAX_TEXT_FILE_BYTES, read_text
from svcnb.logs import redact
from svcnb.reports.data import TOKEN_FILE

_SECRETS: Final = ("SVC_API_KEY", "SVC_CONTROL_TOKEN")
_LEAST: Final = 8
"""Minimum length of a secret from a variable that is not in `_SECRETS`. Shorter values can occur in text by chance."""


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """Returns the secrets that reports must not contain, longest first.

    These are the key and the tokens of the settings, and the values of variables whose names suggest a secret, such as
    ``DATABASE_PASSWORD``.
    """
    found = [environment.get(name, "").strip() for name in _SECRETS]
    with suppress(KeyError, OSError, UnicodeDecodeError):
        found.append(read_text(Path(environment[TOKEN_FILE]).expanduser(), MAX_TEXT_FILE_BYTES).strip())
    with suppress(ConfigError):
        from svcnb.client.config import load

        key = load(base_url="http://localhost", environment=environment).api_key
        found.append(key.reveal() if key else "")
    named = (value.strip() for name, value in environment.items() if names_secret(name) and not name.endswith("_FILE"))
    found += [value for value in named if len(value) >= _LEAST]
    found += [quote(text, safe="") for text in found]
    return sorted({text for text in found if text}, key=len, reverse=True)


def masked(value: Any, secrets: list[str], *, shown: bool = False) -> Any:
    """Returns a JSON value in which every secret is masked. The function changes dictionaries in place.

    Args:
        value: String, list or dictionary. Any other value stays unchanged.
        secrets: Strings to mask.
        shown: Whether the value is an output of a cell. In outputs, the function also masks everything that looks like
            a key.
    """
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return redact(value) if shown else value
    if isinstance(value, list):
        return [masked(each, secrets, shown=shown) for each in value]
    if isinstance(value, dict):
        for name in list(value):
            pictured = name.startswith("image/")  # base64, in which the function cannot recognise a key
            value[masked(name, secrets)] = masked(value.pop(name), secrets, shown=shown and not pictured)
    return value
