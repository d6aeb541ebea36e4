"""Fixtures that all tests share."""

from __future__ import annotations

from typing import Any

import pytest

import svcnb


@pytest.fixture
def w3(svc_emulator: Any) -> Any:
    """Web3 object for the service's chain. The object signs with a new wallet that has ether."""
    owner = svcnb.LocalSigner.random()
    svc_emulator.faucet(owner.address)
    return svc_emulator.web3(owner)
