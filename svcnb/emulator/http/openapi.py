"""Generator of the OpenAPI description from the server's table of endpoints, so that both always agree."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any, Final

from pydantic import TypeAdapter

from svcnb.emulator.http.routing import API, Endpoint
from svcnb.protocol.error_codes import ERROR_CODES
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire.base import ErrorBody

OPENAPI_VERSION: Final = "3.1.0"
API_VERSION: Final = "v1.2"
_REF: Final = "#/components/schemas/{model}"
_PARAMETER = re.compile(r"\{(\w+)\}")
_STRUCTURED: Final = {"$ref": "#/components/schemas/ErrorBody"}
_TEXT: Final = {"type": "string", "description": "Error message."}
_OTHER_CAUSES: Final = {410: "the trigger is disabled"}
_BODY_STATUSES: Final = frozenset({400, 413, 422})
_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500

SECURITY_SCHEMES: Final[dict[str, dict[str, str]]] = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "Account or usage key."},
    "Bearer": {"type": "http", "scheme": "bearer", "description": "Account or usage key as a bearer token."},
    "WalletAuth": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Wallet-Auth",
        "description": "Base64 of {typed_data, signature} with primaryType BillingAuth, signed by the admin wallet.",
    },
    "TriggersToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "Token of the triggers service, approved at /agent/authorize.",
    },
}


def describe(endpoints: Iterable[Endpoint], vocabulary: Vocabulary) -> dict[str, Any]:
    """Returns the OpenAPI description of a server.

    Args:
        endpoints: Endpoints of the server. The document omits endpoints whose attribute ``described`` is False.
        vocabulary: The configured names of the service.

    Returns:
        An OpenAPI document.
    """
    rows = [endpoint for endpoint in endpoints if endpoint.described]
    schemas = _Schemas(rows)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, schemas)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": f"{vocabulary.namespace} account, key-custody and action-execution service",
            "version": API_VERSION,
            "description": (
                "A local emulator of the service. For an error of authentication, billing, routing or parsing, the "
                "body is an object with error, message, fix and docs_url. For an error inside an endpoint, the body "
                "is a JSON string. Errors of the triggers service are objects with error and message. Failed requests "
                "are free. If the setting charge_failed_runs is enabled, runs that end in an error cost credit."
            ),
        },
        # Use an address relative to this description, because a proxy can add a prefix to all paths.
        "servers": [{"url": "../..", "description": "This server"}],
        "tags": [{"name": name} for name in dict.fromkeys(row.tag for row in rows) if name],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "securitySchemes": SECURITY_SCHEMES,
            "headers": {
                "X-Request-Id": {
                    "description": (
                        "New UUID version 4 for this request. The service ignores a value that the caller sends."
                    ),
                    "schema": {"type": "string"},
                },
                "X-Correlation-Id": {
                    "description": "Copy of the request header with this name. Absent if the caller did not send it.",
                    "schema": {"type": "string"},
                },
            },
        },
    }


class _Schemas:
    """JSON schemas of all bodies, each with a unique name."""

    def __init__(self, rows: Iterable[Endpoint]) -> None:
        inputs: list[tuple[Any, Any, TypeAdapter[Any]]] = [("ErrorBody", "serialization", TypeAdapter(ErrorBody))]
        for row in rows:
            if row.request is not None:
                inputs.append(((row.method, row.path, "in"), "validation", TypeAdapter(row.request)))
            if row.error_body is not None:
                inputs.append(((row.method, row.path, "error"), "serialization", TypeAdapter(row.error_body)))
            if row.response is not None:
                inputs.append(((row.method, row.path, "out"), "serialization", TypeAdapter(row.response)))
        found, extra = TypeAdapter.json_schemas(inputs, ref_template=_REF)
        self._found = found
        self.components: dict[str, Any] = extra.get("$defs", {})

    def of(self, row: Endpoint, direction: str) -> dict[str, Any]:
        mode: Any = "validation" if direction == "in" else "serialization"
        return dict(self._found[(row.method, row.path, direction), mode])


def _operation(row: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    text = inspect.getdoc(row.handler) or ""
    is_fixed = row.price_cents and " costs $" not in text  # the texts of other endpoints describe their prices
    price = [f"Costs ${row.price_cents / 100:.2f}, charged only on success."] if is_fixed else []
    operation: dict[str, Any] = {
        "operationId": "_".join([row.method.lower(), *re.findall(r"\w+", row.path.removeprefix(API))]),
        "summary": text.partition("\n")[0],
        "description": "\n\n".join([part for part in [text.partition("\n")[2].strip()] if part] + price),
        "responses": _responses(row, schemas),
    }
    if row.tag:
        operation["tags"] = [row.tag]
    if row.deprecated:
        operation["deprecated"] = True
    if parameters := _parameters(row):
        operation["parameters"] = parameters
    if row.request is not None:
        content = {"application/json": {"schema": schemas.of(row, "in")}}
        if row.any_body:
            content["text/plain"] = {"schema": {"type": "string"}}
        operation["requestBody"] = {"required": not row.any_body, "content": content}
    schemes = dict.fromkeys([*row.schemes, *(name for guard in row.all_guards for name in guard.schemes)])
    operation["security"] = [{name: []} for name in schemes]
    return operation


def _parameters(row: Endpoint) -> list[dict[str, Any]]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(row.path)
    ]
    if row.query is not None:
        schema = row.query.model_json_schema()
        for name, member in schema["properties"].items():
            shown = {key: value for key, value in member.items() if key not in {"description", "title", "default"}}
            if member.get("default") is not None:
                shown["default"] = member["default"]
            parameters.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in schema.get("required", ()),
                    "description": member.get("description", ""),
                    "schema": shown,
                }
            )
    return parameters


def _responses(row: Endpoint, schemas: _Schemas) -> dict[str, Any]:
    structured = {status for guard in row.all_guards for status in guard.statuses} | {_SERVER_ERROR}
    texts = set(row.errors)
    if not row.reads_itself:
        if row.request is not None:
            structured |= _BODY_STATUSES
        if row.request is not None or row.query is not None:
            texts |= {_BAD_REQUEST}
        if row.query is not None:
            structured |= {422}
    if texts & {403, 404} or row.all_guards or row.reads_itself:
        structured |= {503}
    success: dict[str, Any] = {
        "description": "Success.",
        "headers": {
            "X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"},
            "X-Correlation-Id": {"$ref": "#/components/headers/X-Correlation-Id"},
        }
        | {name: {"schema": {"type": "string", "const": value}} for name, value in row.headers.items()},
    }
    if row.response is not None:
        success["content"] = {"application/json": {"schema": schemas.of(row, "out")}}
    responses = {str(row.status): success}
    text = _TEXT if row.error_body is None else schemas.of(row, "error")
    for status in sorted(structured | texts):
        shapes = [_STRUCTURED] * (status in structured) + [text] * (status in texts)
        known = ERROR_CODES.get(status)
        responses[str(status)] = {
            "description": known.cause if known else _OTHER_CAUSES[status],
            "content": {"application/json": {"schema": shapes[0] if len(shapes) == 1 else {"oneOf": shapes}}},
        }
    return responses
