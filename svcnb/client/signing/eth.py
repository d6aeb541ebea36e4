"""Functions that import eth-account on first use, and convert its accounts to signers."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.signing.signer import Signer
from svcnb.extras import how_to_get

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

    AnySigner: TypeAlias = "Signer | LocalAccount"

_IMPORTING: Final = threading.Lock()


def eth_account(purpose: str) -> Any:
    """Imports and returns the module eth_account. The first import takes about half a second.

    Args:
        purpose: Feature that needs eth-account, for the error message.

    Raises:
        SigningError: eth-account is not installed.
    """
    # A dependency of eth-account raises the recursion limit to 100,000 for pairings, which this package does not use.
    # With that limit, deeply nested JSON crashes the process instead of raising an error. The lock prevents other
    # threads from reading the raised limit.
    with _IMPORTING:
        limit = sys.getrecursionlimit()
        try:
            import eth_account as library
            import eth_account.messages
            import eth_account.signers.local
        except ImportError as error:
            raise SigningError(f"{purpose} requires eth-account", hint=how_to_get("chain")) from error
        finally:
            sys.setrecursionlimit(limit)
    return library


def is_local_account(value: object) -> bool:
    """Returns whether a value is an eth-account ``LocalAccount``, without importing the library."""
    module = sys.modules.get("eth_account.signers.local")
    return module is not None and isinstance(value, module.LocalAccount)


def as_signer(value: AnySigner) -> Signer:
    """Returns the value itself if it is a signer, or a `LocalSigner` for an eth-account account.

    Raises:
        InvalidArgument: The value cannot sign.
    """
    if isinstance(value, Signer):
        return value
    if is_local_account(value):
        from svcnb.client.signing.local import LocalSigner

        return LocalSigner.from_account(value)
    raise InvalidArgument(
        f"this operation requires a signer, not {type(value).__name__}",
        hint="Pass a LocalSigner, BrowserSigner, ContractWallet or eth-account LocalAccount: "
        "svcnb.LocalSigner.from_key(key).",
    )
