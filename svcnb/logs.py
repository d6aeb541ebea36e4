"""Logging filter that masks secrets.

This package does not log keys. The filter is for HTTP libraries that log headers at level DEBUG, and for user code that
logs secrets by mistake.

Example:
    >>> import logging
    >>> logging.getLogger("mine").addFilter(RedactingFilter())
"""

from __future__ import annotations

import logging
import re
from typing import Final

MASK: Final = "********"

_PATTERNS: Final = (
    # A header in a mapping, in a tuple of bytes, or in its HTTP format.
    re.compile(
        r"""(?ix) ( \b(?:x-api-key|authorization|x-wallet-auth|cookie|set-cookie)['"]? \s*[:=,]\s*
            (?:b?['"])? (?:bearer\s+)? ) [^\s'",;)\]}]+"""
    ),
    # A named field: api_key=..., "usage_api_key": "...", client_secret ...
    re.compile(r"""(?i)(\b(?:usage_)?api_key['"]?\s*[:=]\s*['"]?)[A-Za-z0-9+/=_-]{8,}"""),
    re.compile(r"""(?i)(\b(?:client_secret|private_key|token|seed)['"]?\s*[:=]\s*['"]?)[^\s'",;)\]}]+"""),
    # 32 bytes in base64, the format of a key.
    re.compile(r"()(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=])"),
    # The client secret of the payment processor.
    re.compile(r"(\bpi_\w+?_secret_)\w+"),
)


def redact(text: str) -> str:
    """Returns the text with ``********`` in place of everything that looks like a secret.

    The function masks keys in base64, the values of header fields such as ``Authorization``, and the values of named
    fields such as ``private_key`` and ``token``.
    """
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


class RedactingFilter(logging.Filter):
    """Logging filter that masks secrets in messages, arguments and tracebacks."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Masks the secrets in a record in place, and returns True, so that the logger writes the record."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # the arguments do not match the message, which logging itself reports
            return True
        masked = redact(message)
        if masked != message:
            record.msg, record.args = masked, None
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = redact(record.exc_text or logging.Formatter().formatException(record.exc_info))
        return True


def protect(*names: str) -> None:
    """Adds a `RedactingFilter` to each logger that does not have such a filter yet.

    Args:
        names: Names of loggers. A filter applies to the records of its own logger, not to records of child loggers.
    """
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(item, RedactingFilter) for item in logger.filters):
            logger.addFilter(RedactingFilter())
