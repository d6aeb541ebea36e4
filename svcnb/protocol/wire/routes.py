"""All routes of the service that this package uses, with the models of their bodies.

The client uses this table. The drift check compares a live service with this table.

Source: docs/service/endpoints.md#endpoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire import accounts, actions, billing, config, groups, paging, usage_keys, wallets
from svcnb.protocol.wire.base import Success


@dataclass(frozen=True)
class Route:
    """HTTP endpoint of the service, with the models of its bodies and its query.

    Attributes:
        method: HTTP method.
        path: Path below ``/core/v1``.
        request: Type of the JSON body. None for a route without a body.
        response: Type of the response body.
        query: Model of the query string. None for a route without a query.
    """

    method: Literal["GET", "POST"]
    path: str
    request: Any
    response: Any
    query: Any = None

    @property
    def name(self) -> str:
        """The method and the path, separated by a space."""
        return f"{self.method} {self.path}"


_LISTS: Final = (
    Route("GET", "/list_api_keys", None, list[usage_keys.ApiKeyItem], paging.PageQuery),
    Route("GET", "/list_groups", None, list[groups.GroupItem], paging.PageQuery),
    Route("GET", "/list_wallets", None, list[wallets.WalletItem], paging.PageQuery),
    Route("GET", "/list_wallets_in_group", None, list[wallets.WalletItem], paging.GroupWalletsQuery),
    Route("GET", "/list_actions", None, list[actions.ActionItem], paging.ActionsQuery),
)
_SIGNED: Final = (
    Route(
        "POST",
        "/create_wallet_with_signature",
        wallets.CreateWalletWithSignatureRequest,
        wallets.SignedWalletResponse,
    ),
    Route(
        "POST",
        "/add_usage_api_key_with_signature",
        usage_keys.AddUsageApiKeyWithSignatureRequest,
        usage_keys.SignedUsageApiKeyResponse,
    ),
    Route("POST", "/convert_to_chain_secured_account", accounts.ConvertAccountRequest, Success),
)


def routes(vocabulary: Vocabulary) -> list[Route]:
    """Returns every route, in the order of the specification.

    Args:
        vocabulary: The service's names.
    """
    return [*_changes_and_runs(vocabulary), *_LISTS, *_node_and_billing(vocabulary), *_SIGNED]


def _changes_and_runs(vocabulary: Vocabulary) -> list[Route]:
    return [
        Route("POST", "/new_account", accounts.NewAccountRequest, accounts.NewAccountResponse),
        Route("GET", "/account_exists", None, bool),
        Route("POST", "/add_usage_api_key", usage_keys.AddUsageApiKeyRequest, usage_keys.AddUsageApiKeyResponse),
        Route("POST", "/update_usage_api_key", usage_keys.UpdateUsageApiKeyRequest, Success),
        Route("POST", "/update_usage_api_key_metadata", usage_keys.UpdateUsageApiKeyMetadataRequest, Success),
        Route("POST", "/remove_usage_api_key", usage_keys.RemoveUsageApiKeyRequest, Success),
        Route("POST", "/create_wallet", None, wallets.CreateWalletResponse),
        Route("POST", "/add_group", groups.AddGroupRequest, groups.AddGroupResponse),
        Route("POST", "/update_group", groups.UpdateGroupRequest, Success),
        Route("POST", "/remove_group", groups.RemoveGroupRequest, Success),
        Route("POST", "/add_action_to_group", groups.AddActionToGroupRequest, Success),
        Route("POST", "/remove_action_from_group", groups.RemoveActionFromGroupRequest, Success),
        Route("POST", "/add_pkp_to_group", groups.GroupPkpRequest, Success),
        Route("POST", "/remove_pkp_from_group", groups.GroupPkpRequest, Success),
        Route("POST", "/add_action", actions.AddActionRequest, Success),
        Route("POST", "/delete_action", actions.DeleteActionRequest, Success),
        Route("POST", "/update_action_metadata", actions.UpdateActionMetadataRequest, Success),
        Route("POST", vocabulary.run_path, actions.RunActionRequest, actions.RunActionResponse),
        Route("POST", vocabulary.action_id_path, str, str),
    ]


def _node_and_billing(vocabulary: Vocabulary) -> list[Route]:
    return [
        Route("GET", "/get_node_chain_config", None, config.NodeChainConfig),
        Route("GET", "/get_api_payers", None, list[str]),
        Route("GET", "/get_admin_api_payer", None, str),
        Route("GET", vocabulary.action_limits_path, None, config.ActionClientConfig),
        Route("GET", "/version", None, config.VersionResponse),
        Route("GET", vocabulary.processor_config_path, None, billing.PublishableKeyResponse),
        Route("GET", "/billing/balance", None, billing.BalanceResponse),
        Route(
            "POST",
            "/billing/create_payment_intent",
            billing.CreatePaymentIntentRequest,
            billing.CreatePaymentIntentResponse,
        ),
        Route("POST", "/billing/confirm_payment", billing.ConfirmPaymentRequest, Success),
    ]
