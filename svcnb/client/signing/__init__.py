"""Signers, and functions that check signatures.

A `LocalSigner` contains a private key. A `ContractWallet` signs for a contract (ERC-1271). A `BrowserSigner` signs
with a browser wallet, through a panel. All three are subclasses of `Signer`. Every method that needs a wallet accepts a
`Signer`.
"""

from __future__ import annotations

from svcnb.client.signing.contract_wallet import ContractWallet
from svcnb.client.signing.envelope import SignedEnvelope, sign_flow, sign_flow_async
from svcnb.client.signing.eth import as_signer
from svcnb.client.signing.local import LocalSigner
from svcnb.client.signing.recovery import recover, verify
from svcnb.client.signing.signer import Signer
from svcnb.client.signing.typed_data import typed_data_digest

__all__ = [
    "ContractWallet",
    "LocalSigner",
    "SignedEnvelope",
    "Signer",
    "as_signer",
    "recover",
    "sign_flow",
    "sign_flow_async",
    "typed_data_digest",
    "verify",
]
