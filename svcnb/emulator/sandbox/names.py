"""Names that are visible to actions, in the format that an isolate receives."""

from __future__ import annotations

import json

from svcnb.protocol.vocabulary import Vocabulary


def names_json(words: Vocabulary) -> str:
    """Returns the names of the namespace and its functions as JSON text, which processes need for their warm-up."""
    return json.dumps(
        {
            "namespace": words.namespace,
            "actions": words.actions_global,
            "auth": words.auth_global,
            "headers": words.headers_global,
            "privateKey": words.private_key_function,
            "actionPrivateKey": words.action_private_key_function,
            "actionPublicKey": words.action_public_key_function,
            "actionWalletAddress": words.action_wallet_address_function,
        }
    )
