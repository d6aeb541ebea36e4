"""Hooks for schemathesis, which loads this file into its own process (`SCHEMATHESIS_HOOKS`).

Generated values rarely identify existing objects. Therefore, some requests get members, keys and signatures of a real
account (the pool that the test prepared). All choices depend on the run's seed.
"""

from __future__ import annotations

import base64
import json
import os
import random
from typing import Any, Final

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

_POOL: Final[dict[str, Any]] = json.loads(os.environ["SVC_FUZZ_POOL"])
_CHANCE: Final = random.Random(_POOL["seed"])
_EXECUTION: Final = "/core/v1/svc_action"
_KEYED: Final = "X-Api-Key"


@schemathesis.hook
def before_call(_context: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Adds the pool's key to a request, and often the pool's values."""
    headers = case.headers
    if case.operation.path.startswith("/api/"):
        headers["Authorization"] = f"Bearer {_POOL['token']}"
    elif case.operation.path.endswith("convert_to_chain_secured_account"):
        headers[_KEYED] = _POOL["conversion"]  # otherwise, every later request uses a converted account
    elif _CHANCE.random() < 0.6:
        headers[_KEYED] = _POOL["keys"][0]
    elif _CHANCE.random() < 0.6:
        headers[_KEYED] = _CHANCE.choice(_POOL["keys"])
    elif _CHANCE.random() < 0.5:
        signed = json.dumps(_POOL["envelopes"]["BillingAuth"]).encode()
        headers["X-Wallet-Auth"] = base64.b64encode(signed).decode()
    if isinstance(case.body, dict) and _CHANCE.random() < 0.5:
        case.body = _lent(case.operation.path, case.body)


def _lent(path: str, body: dict[str, Any]) -> dict[str, Any]:
    flow = _POOL["flows"].get(path)
    if flow is not None and _CHANCE.random() < 0.8:
        body = body | _POOL["envelopes"][flow]
    found = {name: value for name, value in body.items() if name in _POOL["members"]}
    return body | {name: _CHANCE.choice(_POOL["members"][name]) for name in found if _CHANCE.random() < 0.8}


@schemathesis.check
def no_failure_of_the_service(_ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Accepts a 500 only for a failed action, whose body is the JSON string of docs/service/http.md#errors."""
    if response.status_code < 500:
        return
    body = json.loads(response.content)
    assert response.status_code == 500, f"{response.status_code}: {body}"
    assert case.operation.path == _EXECUTION, f"500 and the service is whole: {body}"
    assert isinstance(body, str), f"the service itself failed: {body}"


@schemathesis.check
def errors_have_one_of_two_shapes(_ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Requires a JSON string, or an object with the next step. Errors of webhooks are objects.

    Source: docs/service/http.md#errors.
    """
    if response.status_code < 400 or case.operation.path.startswith(("/api/", "/webhook/")):
        return
    body = json.loads(response.content)
    if not isinstance(body, str):
        assert {"error", "message", "fix", "docs_url"} <= body.keys(), body
        assert body["message"], body
        assert body["fix"], body
