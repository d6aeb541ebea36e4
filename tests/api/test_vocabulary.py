"""Other names of the service (docs/service/index.md#names), which two settings of the emulator select."""

from __future__ import annotations

import re

import pytest


@pytest.mark.slow
def test_the_service_supports_other_names(local):
    """The names acme and payco."""
    wire = local(service_name="acme", processor_name="payco", starter_credits=500)
    account = wire.account()
    code = """
    async function main() {
      const wallet = new ethers.Wallet(await Acme.Actions.getAcmeActionPrivateKey());
      return [wallet.address.length, typeof globalThis.Svc, Acme.Actions === AcmeActions];
    }"""
    ran = wire.post("acme_action", account.key, {"code": code})
    assert (ran.status_code, ran.json()["response"]) == (200, [42, "undefined", True])
    assert wire.post("get_acme_action_ipfs_id", body="x").status_code == 200
    assert wire.get("billing/payco_config").json()["publishable_key"].startswith("pk_")
    assert wire.get("get_acme_action_client_config").status_code == 200
    for method, path in (
        ("POST", "svc_action"),
        ("POST", "get_svc_action_ipfs_id"),
        ("GET", "billing/processor_config"),
    ):
        assert wire.call(method, path).status_code == 404
    assert "acme_actions_reachable" in wire.get("/health").json()
    assert "ACME_ACTION_DEFAULT_TIMEOUT_MS" in wire.get("get_chain_config_keys").json()["keys"]
    private = wire.call("GET", "version", headers={"X-Acme-Privacy-Mode": "1"})
    assert private.headers["X-Request-Id"].endswith("_acme_privacy_mode")
    described = wire.get("openapi.json").text
    assert "/core/v1/acme_action" in described
    assert "svc" not in described.lower().replace("svcnb", "")
    names = re.findall(r'"(?:title|operationId|\$ref)":"([^"]*)"', described)
    assert names
    assert not [name for name in names if "processor" in name.lower()]
