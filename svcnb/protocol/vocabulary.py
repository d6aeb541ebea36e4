"""Names of the interface, derived from the names of the service and of the payment processor.

In the specification, ``svc`` represents the vendor's name in identifiers, and ``processor`` the payment processor's
name. This module derives these identifiers, so one setting changes the names in the client and the emulator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from svcnb.protocol.errors import MalformedValue

_NAME = re.compile(r"[a-z][a-z0-9]{0,31}\Z")


@dataclass(frozen=True)
class Vocabulary:
    """The two names from which this module derives all other names.

    Args:
        service: Lowercase name of the service, for example ``svc``.
        processor: Lowercase name of the payment processor, for example ``processor``.

    Raises:
        MalformedValue: A name is not a lowercase letter followed by at most 31 lowercase letters or digits.

    Example:
        >>> Vocabulary(service="acme").run_path
        '/acme_action'

    Source: docs/service/index.md#names.
    """

    service: str = "svc"
    processor: str = "processor"

    def __post_init__(self) -> None:
        for field in ("service", "processor"):
            value = getattr(self, field)
            if not isinstance(value, str) or not _NAME.match(value):
                raise MalformedValue(
                    f"invalid {field} name {value!r}: expected one lowercase letter, then at most 31 lowercase "
                    f"letters or digits, for example {field}='acme'"
                )

    # --- HTTP, relative to {base_url}/core/v1 -------------------------------------------------------------------

    @cached_property
    def run_path(self) -> str:
        """Path of the endpoint that executes an action."""
        return f"/{self.service}_action"

    @cached_property
    def action_id_path(self) -> str:
        """Path of the endpoint that returns the CID of a source."""
        return f"/get_{self.service}_action_ipfs_id"

    @cached_property
    def action_limits_path(self) -> str:
        """Path of the endpoint that returns the execution limits."""
        return f"/get_{self.service}_action_client_config"

    @cached_property
    def processor_config_path(self) -> str:
        """Path of the endpoint that returns the processor's publishable key."""
        return f"/billing/{self.processor}_config"

    @cached_property
    def privacy_suffix(self) -> str:
        """Suffix that the service appends to the id of a request in privacy mode."""
        return f"_{self.service}_privacy_mode"

    @cached_property
    def privacy_header(self) -> str:
        """Name of the request header that requests privacy mode."""
        return f"X-{self.namespace}-Privacy-Mode"

    @cached_property
    def health_member(self) -> str:
        """Name of the member of the health response that shows whether the action runtime is reachable."""
        return f"{self.service}_actions_reachable"

    @cached_property
    def limits_key_prefix(self) -> str:
        """Prefix of the names of execution limits in the configuration of the node."""
        return f"{self.service.upper()}_ACTION_DEFAULT_"

    # --- JavaScript ---------------------------------------------------------------------------------------------

    @cached_property
    def namespace(self) -> str:
        """Name of the global object of the action runtime, for example ``Svc``."""
        return self.service.capitalize()

    @cached_property
    def actions_global(self) -> str:
        """Name of the global alias of ``<Namespace>.Actions``."""
        return f"{self.namespace}Actions"

    @cached_property
    def auth_global(self) -> str:
        """Name of the global alias of ``<Namespace>.Auth``."""
        return f"{self.namespace}Auth"

    @cached_property
    def headers_global(self) -> str:
        """Name of the global alias of ``<Namespace>.Headers``."""
        return f"{self.namespace}Headers"

    @cached_property
    def private_key_function(self) -> str:
        """Name of the runtime function that returns a wallet's private key, the same for every service name."""
        return "getPrivateKey"

    @cached_property
    def action_private_key_function(self) -> str:
        """Name of the runtime function that returns the action's own private key."""
        return f"get{self.namespace}ActionPrivateKey"

    @cached_property
    def action_public_key_function(self) -> str:
        """Name of the runtime function that returns the public key of any action."""
        return f"get{self.namespace}ActionPublicKey"

    @cached_property
    def action_wallet_address_function(self) -> str:
        """Name of the runtime function that returns the wallet address of any action."""
        return f"get{self.namespace}ActionWalletAddress"

    # --- signatures and keys ------------------------------------------------------------------------------------

    @cached_property
    def domain_name(self) -> str:
        """EIP-712 domain name of the ChainSecured flows."""
        return f"{self.namespace} ChainSecured"

    @cached_property
    def action_key_prefix(self) -> str:
        """Text that the service puts before the CID when it derives an action's key."""
        return f"{self.service}_action_"

    @cached_property
    def action_key_purpose(self) -> str:
        """Purpose string, which makes the derivation of action keys different from other derivations."""
        return f"{self.service}_action"

    @cached_property
    def payer_key_purpose(self) -> str:
        """Purpose string, which makes the derivation of payer keys different from other derivations."""
        return f"{self.service}_payer"

    # --- triggers -----------------------------------------------------------------------------------------------

    @cached_property
    def account_address_member(self) -> str:
        """Name of the member with the account's address, in the JSON of a trigger."""
        return f"{self.service}_account_address"

    @cached_property
    def processor_signature_header(self) -> str:
        """Name of the header with the signature of the processor's requests to webhooks.

        The service passes this header to actions, which verify the signature.
        """
        return f"{self.processor}-signature"
