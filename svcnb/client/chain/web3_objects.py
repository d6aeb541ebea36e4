"""Factories for web3 objects of a service's chain. The module imports web3 on first use."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from svcnb.client._http import is_loopback
from svcnb.client.errors import ChainError, InvalidArgument
from svcnb.client.signing.eth import eth_account, is_local_account
from svcnb.protocol.contract import abi

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount
    from web3 import AsyncWeb3, Web3
    from web3.contract import AsyncContract, Contract

    from svcnb.client.signing.eth import AnySigner


def make_web3(url: str, owner: AnySigner | None = None) -> Web3:
    """Returns a web3 object that is connected to a chain node.

    Args:
        url: Address of the node.
        owner: Wallet that signs the transactions: a `LocalSigner` or an eth-account account. With None, the returned
            object can only read.

    Raises:
        ChainError: web3 is not installed.
        InvalidArgument: The private key of ``owner`` is not in this process.
    """
    account = _account(owner)
    library = _web3()
    # Connections to this machine never use a proxy from the environment.
    proxies = {"http": "", "https": ""} if is_loopback(urlsplit(url).hostname or "") else {}
    found = library.Web3(library.HTTPProvider(url, request_kwargs={"proxies": proxies}))
    return cast("Web3", _signing(found, account))


def make_async_web3(url: str, owner: AnySigner | None = None) -> AsyncWeb3[Any]:
    """Asynchronous version of `make_web3`."""
    account = _account(owner)
    library = _web3()
    return cast("AsyncWeb3[Any]", _signing(library.AsyncWeb3(library.AsyncHTTPProvider(url)), account))


def contract(url: str, address: str, owner: AnySigner | None = None) -> Contract:
    """Returns the AccountConfig contract at ``address`` as a web3 object.

    The other arguments and the errors are the same as for `make_web3`.
    """
    web3 = make_web3(url, owner)
    return web3.eth.contract(address=web3.to_checksum_address(address), abi=abi())


def async_contract(url: str, address: str, owner: AnySigner | None = None) -> AsyncContract:
    """Asynchronous version of `contract`."""
    web3 = make_async_web3(url, owner)
    return web3.eth.contract(address=web3.to_checksum_address(address), abi=abi())


def _web3() -> Any:
    eth_account(
        "web3"
    )  # import eth-account first, because this call restores the recursion limit that a shared dependency changes
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # dependencies issue warnings at import
            import web3
    except ImportError as error:
        raise ChainError("this function requires web3", hint="Install web3: pip install 'web3>=7'") from error
    return web3


def _account(owner: AnySigner | None) -> LocalAccount | None:
    if owner is None or is_local_account(owner):
        return cast("LocalAccount | None", owner)
    from svcnb.client.signing.local import LocalSigner

    if isinstance(owner, LocalSigner):
        return owner.account
    raise InvalidArgument(
        f"web3 cannot sign with {type(owner).__name__}, because this signer has no private key in this process",
        hint="Pass a LocalSigner or an eth-account LocalAccount: svcnb.LocalSigner.from_key(key).",
    )


def _signing(found: Any, account: LocalAccount | None) -> Any:
    if account is not None:
        from web3.middleware import SignAndSendRawMiddlewareBuilder

        builder: Any = SignAndSendRawMiddlewareBuilder  # web3 types `build` as a function of two arguments
        found.middleware_onion.inject(builder.build(account), layer=0)
        found.eth.default_account = account.address
    return found
