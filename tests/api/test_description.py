"""OpenAPI description of the API, and its interactive documentation (docs/service/index.md#versioning)."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest

SPECIFIED = {
    "POST": {
        "new_account",
        "add_usage_api_key",
        "create_wallet",
        "add_group",
        "add_action_to_group",
        "add_pkp_to_group",
        "svc_action",
        "remove_usage_api_key",
        "update_usage_api_key",
        "update_usage_api_key_metadata",
        "remove_group",
        "update_group",
        "add_action",
        "delete_action",
        "remove_action_from_group",
        "update_action_metadata",
        "remove_pkp_from_group",
        "get_svc_action_ipfs_id",
        "billing/create_payment_intent",
        "billing/confirm_payment",
        "create_wallet_with_signature",
        "convert_to_chain_secured_account",
        "add_usage_api_key_with_signature",
    },
    "GET": {
        "account_exists",
        "create_wallet",
        "list_api_keys",
        "list_groups",
        "list_wallets",
        "list_wallets_in_group",
        "list_actions",
        "get_node_chain_config",
        "get_api_payers",
        "get_admin_api_payer",
        "billing/processor_config",
        "billing/balance",
    },
}
WITHOUT_CREDENTIAL = {
    "new_account",
    "get_node_chain_config",
    "get_api_payers",
    "get_admin_api_payer",
    "get_svc_action_ipfs_id",
    "billing/processor_config",
    "create_wallet_with_signature",
    "add_usage_api_key_with_signature",
}


@pytest.fixture(scope="module")
def description(wire):
    answer = wire.get("openapi.json")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    return answer.json()


@pytest.mark.parametrize(("method", "name"), sorted((m, n) for m, names in SPECIFIED.items() for n in names))
def test_every_specified_endpoint_is_described_and_responds(wire, description, method, name):
    operation = description["paths"][f"/core/v1/{name}"][method.lower()]
    assert operation["summary"]
    assert ("security" in operation and operation["security"] == []) == (name in WITHOUT_CREDENTIAL)
    answer = wire.call(method, name, **({"json": {}} if method == "POST" else {}))
    assert answer.status_code not in {404, 405, 500}


def test_the_statuses_that_occur_are_described(description):
    """The description of an endpoint contains the statuses of its guards."""
    paths = description["paths"]
    billed = paths["/core/v1/add_group"]["post"]["responses"]
    assert {"200", "400", "401", "402", "403", "404", "413", "422", "500", "503"} == billed.keys()
    assert "429" in paths["/core/v1/svc_action"]["post"]["responses"]
    assert {"401", "422"} <= paths["/core/v1/list_groups"]["get"]["responses"].keys()
    assert "402" not in paths["/core/v1/list_groups"]["get"]["responses"]
    for name in ("create_wallet_with_signature", "add_usage_api_key_with_signature"):
        assert "503" in paths[f"/core/v1/{name}"]["post"]["responses"], "a contract wallet is asked on chain"
    webhook = paths["/webhook/{id}"]["post"]
    assert {"202", "400", "404", "410", "413", "429"} <= webhook["responses"].keys()
    assert webhook["requestBody"]["content"].keys() == {"application/json", "text/plain"}
    assert webhook["requestBody"]["required"] is False
    assert "503" in paths["/health"]["get"]["responses"]


def test_the_description_of_each_operation_contains_one_price(description):
    texts = {
        path.rpartition("/v1/")[2]: operation["description"]
        for path, methods in description["paths"].items()
        for operation in methods.values()
    }
    assert "Costs $0.01, charged only on success." in texts["add_group"]
    assert "$0.01 per whole second" in texts["svc_action"]
    assert [path for path, text in texts.items() if len(re.findall("(?i)costs? [$]", text)) > 1] == []


def test_every_reference_inside_the_description_has_a_target(description):
    for name in set(re.findall(r'"#/components/([^"]+)"', str(description).replace("'", '"'))):
        part, _, entry = name.partition("/")
        assert entry in description["components"][part], name


def test_bodies_of_answers_and_requests_are_described(description):
    billed = description["paths"]["/core/v1/add_group"]["post"]
    schema = billed["requestBody"]["content"]["application/json"]["schema"]
    request = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert request["required"] == ["group_name"]
    assert {"group_name", "group_description", "pkp_ids_permitted", "cid_hashes_permitted"} == request[
        "properties"
    ].keys()
    error = billed["responses"]["402"]["content"]["application/json"]["schema"]
    assert error == {"$ref": "#/components/schemas/ErrorBody"}
    refused = billed["responses"]["403"]["content"]["application/json"]["schema"]
    assert refused["type"] == "string"


def test_the_deprecated_method_is_marked_in_the_description_and_in_responses(description, account):
    """Checks that the OpenAPI description and the response headers mark the deprecated method.

    Source: docs/service/index.md#versioning.
    """
    both = description["paths"]["/core/v1/create_wallet"]
    assert both["get"]["deprecated"] is True
    assert "deprecated" not in both["post"]
    old, new = account.get("create_wallet"), account.post("create_wallet")
    assert old.headers["Deprecation"] == "true"
    assert old.headers["Link"] == '</core/v1/create_wallet>; rel="successor-version"'
    assert "Deprecation" not in new.headers


def test_the_description_omits_the_control_plane(description):
    assert not [path for path in description["paths"] if "_emulator" in path or path.startswith("/processor")]


def test_the_interactive_view_loads_only_from_this_server(wire):
    """Every address in the description belongs to this server and responds.

    Source: docs/service/index.md#versioning; works without internet.
    """
    page = wire.get("swagger-ui")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(addresses) >= 3
    for address in addresses:
        # The address is relative, so that the page also works below a path of a proxy.
        asset = wire.call("GET", urljoin("/core/v1/swagger-ui", address))
        assert asset.status_code == 200, address
        assert asset.content
        plain = wire.call("GET", address, headers={"Accept-Encoding": "identity"})
        assert plain.content == asset.content  # the client has decompressed the body
        assert "Content-Encoding" not in plain.headers
    assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
    assert wire.call("GET", "/core/v1/swagger-ui/../../../etc/passwd").status_code == 404
    assert wire.get("swagger-ui/nothing.js").status_code == 404


def test_the_root_leads_to_the_view_and_the_short_address_to_the_description(wire):
    """Checks that / redirects to the interactive documentation, and the short address to the OpenAPI description.

    Source: docs/service/http.md#health-and-configuration.
    """
    for below in ("/", "/user/x/proxy/8080/"):
        leads = [urljoin(below, wire.call("GET", path).headers["Location"]) for path in ("/", "/openapi.json")]
        assert leads == [f"{below}core/v1/swagger-ui", f"{below}core/v1/openapi.json"]


def test_with_a_slash_at_the_end_the_view_finds_its_files_as_well(wire):
    page = wire.get("swagger-ui/")
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert wire.call("GET", urljoin("/core/v1/swagger-ui/", address)).status_code == 200, address


@pytest.fixture(scope="module")
def json_schema():
    """Returns the JSON Schema validator of another library."""
    module = pytest.importorskip("jsonschema", reason="jsonschema comes with the charts (extra 'lab')")
    return module.Draft202012Validator


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("GET get_node_chain_config", "200"),
        ("GET get_api_payers", "200"),
        ("GET get_admin_api_payer", "200"),
        ("GET get_svc_action_client_config", "200"),
        ("GET version", "200"),
        ("GET account_exists", "200"),
        ("GET billing/balance", "200"),
        ("GET billing/processor_config", "200"),
        ("GET list_wallets", "200"),
        ("GET list_groups", "200"),
        ("GET list_api_keys", "200"),
        ("GET list_actions", "200"),
        ("POST create_wallet", "200"),
        ("POST add_group", "422"),
        ("GET list_wallets_in_group", "422"),
    ],
)
def test_real_responses_match_their_description(description, account, json_schema, asked, status):
    method, name = asked.split()
    account.usage_key("shown", execute_in_groups=[0])
    account.group("shown", cids=["0x0"])
    answer = account.wire.call(method, name, account.key, **({"json": {}} if method == "POST" else {}))
    assert answer.status_code == int(status)
    operation = description["paths"][f"/core/v1/{name}"][method.lower()]
    schema = operation["responses"][status]["content"]["application/json"]["schema"]
    json_schema(schema | {"components": description["components"]}).validate(answer.json())


def test_every_schema_is_a_schema(description, json_schema):
    for schema in description["components"]["schemas"].values():
        json_schema.check_schema(schema)
