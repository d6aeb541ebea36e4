"""Comparison of a live service with this package, for each route and field.

The service publishes an OpenAPI description (docs/service/index.md#versioning). The models of `svcnb.protocol.wire`
describe what the client sends and reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import TypeAdapter

from svcnb.checked import checked
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.protocol.limits import CLOCK_SKEW_WARNING_S
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire.routes import Route, routes
from svcnb.renamed import renamed

if TYPE_CHECKING:
    from svcnb.client.client import Client

Severity = Literal["breaks", "suspect", "news"]

_PREFIX: Final = "/core/v1"
_TRIGGERS: Final = ("/api/", "/webhook/")
"""Path prefixes of the triggers service, whose paths the emulator's OpenAPI document also contains."""

_ANYTHING: Final = frozenset({"string", "number", "boolean", "array", "object"})
_OWN_OPTIONAL: Final = frozenset({"success", "rpc_url", "hashed_cid", "has_error"})
"""Fields that can be missing from a response without a finding.

The emulator adds some of these fields. The other fields repeat the HTTP status."""

_MAX_DEPTH: Final = 12


class Drift(Model):
    """Difference between a live service and this package."""

    severity: Severity
    """``breaks``: a call fails, or the client cannot parse a response. ``news``: the service has a feature that this
    package does not use. ``suspect``: any other difference, for example of a type or a clock. Such a
    difference can be harmless."""

    route: str
    """Method and path of the route."""

    field: str = ""
    """Location, for example ``request.name``, ``response[].name`` or ``query.name``. Empty for the whole route."""

    says: str
    """Description of the difference."""

    @property
    def weight(self) -> Severity:
        """Deprecated name of `severity`."""
        renamed("Drift.weight", "Drift.severity")
        return self.severity

    def __str__(self) -> str:
        return f"{self.severity}: {self.route} {self.field}: {self.says}".replace(" : ", ": ")


@checked
def clock_drift(svc: Client) -> Drift | None:
    """Returns a finding if the clocks of the service and this machine differ by more than two minutes. Otherwise, None.

    The service rejects signatures if the clocks differ too much.
    """
    svc.node.version()
    skew = svc.clock_skew
    if skew is None or abs(skew) <= CLOCK_SKEW_WARNING_S:
        return None
    ahead = "ahead of" if skew > 0 else "behind"
    says = f"the service's clock is {abs(skew):.0f} s {ahead} this machine's clock"
    return Drift(
        severity="suspect", route="GET /version", field="header.date", says=f"{says}: correct the clock that is wrong"
    )


@checked
def live_drift(svc: Client) -> Listing[Drift]:
    """Returns the differences between the OpenAPI description of a live service and the models of this package.

    The result also contains the finding of `clock_drift`, if there is one. This call is free and needs no key.

    Args:
        svc: Client of the service.

    Raises:
        NotFound: The service does not publish an OpenAPI description.
    """
    found = compare(svc.node.openapi(), svc.vocabulary)
    if (clock := clock_drift(svc)) is not None:
        found.append(clock)
    return Listing(found, of="differences", kind=Drift)


@checked
def recorded_drift(base_url: str, vocabulary: Vocabulary | None = None) -> Listing[Drift]:
    """Returns the differences between responses of a live service and recorded responses.

    The function sends only requests that are free and need no account.

    Args:
        base_url: Address of the service, without ``/core/v1``.
        vocabulary: Names of the service and of the payment processor. None uses the default names.

    Raises:
        ConfigError: The address is not an http or https URL.
        TransportError: The service does not respond.
    """
    from svcnb.client.config import clean_url
    from svcnb.toolkit import recorded

    base_url = clean_url(base_url, "base_url")
    found = [
        Drift(
            severity="news" if each.is_news else "suspect",
            route=each.route,
            field=f"answer.{each.field}",
            says=f"{each.title}: {each.says}",
        )
        for conversation in recorded.load()
        if conversation.needs == "nothing"
        for each in recorded.compare(conversation, recorded.over_http(base_url), vocabulary=vocabulary)
    ]
    return Listing(sorted(found, key=lambda each: each.severity == "news"), of="differences", kind=Drift)


@checked
def compare(description: Mapping[str, Any], vocabulary: Vocabulary | None = None) -> list[Drift]:
    """Returns the differences between an OpenAPI description and this package's models, most severe first.

    Args:
        description: OpenAPI description, version 3.0 or 3.1.
        vocabulary: Names of the service and of the payment processor. None uses the default names.
    """
    order: dict[Severity, int] = {"breaks": 0, "suspect": 1, "news": 2}
    return sorted(_all(description, vocabulary or Vocabulary()), key=lambda each: order[each.severity])


def _all(description: Mapping[str, Any], vocabulary: Vocabulary) -> Iterator[Drift]:
    live = {
        (method.upper(), path.removeprefix(_PREFIX).rstrip("/") or "/"): operation
        for path, operations in description.get("paths", {}).items()
        for method, operation in operations.items()
        if method in {"get", "post", "put", "patch", "delete"} and not path.startswith(_TRIGGERS)
    }
    theirs = _Reader(description)
    known = routes(vocabulary)
    for route in known:
        operation = live.get((route.method, route.path))
        if operation is None:
            others = [method for method, path in live if path == route.path]
            says = (
                f"the service supports this path only with {', '.join(others)}"
                if others
                else "the service does not have this endpoint"
            )
            yield _drift(route, "breaks", "", says)
            continue
        yield from _route(route, operation, theirs)
    ours = {(route.method, route.path) for route in known}
    for method, path in sorted(set(live) - ours):
        if not live[method, path].get("deprecated"):
            yield Drift(severity="news", route=f"{method} {path}", says="this package does not use this endpoint")


def _drift(route: Route, severity: Severity, field: str, says: str) -> Drift:
    return Drift(severity=severity, route=route.name, field=field, says=says)


def _route(route: Route, operation: Mapping[str, Any], theirs: _Reader) -> Iterator[Drift]:
    body = _content(operation.get("requestBody", {}))
    if route.request is not None:
        yield from _sent(route, _Reader.of(route.request, "validation"), theirs.shape(body), "request")
    elif body is not None and operation.get("requestBody", {}).get("required"):
        yield _drift(route, "breaks", "request", "the service requires a body, but this package sends none")
    if route.query is not None:
        query = {
            item["name"]: item
            for item in map(theirs.resolve, operation.get("parameters", ()))
            if item.get("in") == "query"
        }
        live = {
            "kinds": frozenset({"object"}),
            "members": {name: theirs.shape(item.get("schema")) for name, item in query.items()},
            "required": {name for name, item in query.items() if item.get("required")},
        }
        yield from _sent(route, _Reader.of(route.query, "validation"), live, "query")
    answer = theirs.resolve(operation.get("responses", {}).get("200", {}))
    read = _content(answer)
    if read is not None:
        yield from _read(route, _Reader.of(route.response, "serialization"), theirs.shape(read), "response")


def _sent(route: Route, ours: Mapping[str, Any], live: Mapping[str, Any], where: str) -> Iterator[Drift]:
    """Compares the fields that the client sends with those that the service accepts."""
    yield from _kinds(route, ours, live, where)
    for name in sorted(live["required"] - set(ours["members"])):
        says = "the service requires this field, but this package does not send it"
        yield _drift(route, "breaks", f"{where}.{name}", says)
    for name in sorted(set(live["members"]) - set(ours["members"]) - live["required"]):
        says = "the service accepts this field, but this package does not send it"
        yield _drift(route, "news", f"{where}.{name}", says)
    for name, member in ours["members"].items():
        if name in live["members"]:
            yield from _kinds(route, member, live["members"][name], f"{where}.{name}")
        elif live["members"]:
            severity: Severity = "breaks" if name in ours["required"] else "suspect"
            says = "this package sends this field, but the service does not accept it"
            yield _drift(route, severity, f"{where}.{name}", says)


def _read(route: Route, ours: Mapping[str, Any], live: Mapping[str, Any], where: str) -> Iterator[Drift]:
    """Compares the fields that the service returns with those that the client reads."""
    yield from _kinds(route, ours, live, where)
    if ours.get("items") and live.get("items"):
        yield from _read(route, ours["items"], live["items"], f"{where}[]")
        return
    if not live["members"]:
        return  # the description does not list the fields of the object
    for name, member in ours["members"].items():
        if name in live["members"]:
            yield from _kinds(route, member, live["members"][name], f"{where}.{name}")
        elif name not in _OWN_OPTIONAL:
            says = "this package reads this field, but the service does not return it"
            yield _drift(route, "breaks", f"{where}.{name}", says)
    for name in sorted(set(live["members"]) - set(ours["members"])):
        says = "the service returns this field, but this package does not read it"
        yield _drift(route, "news", f"{where}.{name}", says)


def _kinds(route: Route, ours: Mapping[str, Any], live: Mapping[str, Any], where: str) -> Iterator[Drift]:
    mine, theirs = ours["kinds"], live["kinds"]
    if mine and theirs and not mine & theirs:
        here, there = (" or ".join(sorted(kinds)) for kinds in (mine, theirs))
        yield _drift(route, "suspect", where, f"the type is {here} in this package, but {there} in the service")


def _content(holder: Mapping[str, Any]) -> Any:
    kinds = holder.get("content", {})
    return kinds.get("application/json", {}).get("schema")


class _Reader:
    """Reader of JSON schemas that resolves references.

    Args:
        document: Document that contains the targets of the references.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    @classmethod
    def of(cls, kind: Any, mode: Literal["validation", "serialization"]) -> dict[str, Any]:
        """Returns the types and fields of a model of this package, in the format of `shape`."""
        schema = TypeAdapter(kind).json_schema(mode=mode)
        return cls(schema).shape(schema)

    def resolve(self, schema: Any) -> Any:
        """Returns the object to which a reference points. An object that is not a reference stays unchanged."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(schema, Mapping) or "$ref" not in schema:
                return schema
            found: Any = self._document
            for part in str(schema["$ref"]).removeprefix("#/").split("/"):
                found = found.get(part, {}) if isinstance(found, Mapping) else {}
            schema = found
        return schema

    def shape(self, schema: Any, depth: int = 0) -> dict[str, Any]:
        """Returns the types, fields, required fields and items of a schema.

        If the schema has alternatives, the result combines all alternatives.
        """
        schema = self.resolve(schema)
        shape: dict[str, Any] = {"kinds": frozenset(), "members": {}, "required": set(), "items": None}
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return shape
        shape["kinds"] = frozenset(_kinds_of(schema))
        if "properties" in schema:
            shape["members"] = {name: self.shape(each, depth + 1) for name, each in schema["properties"].items()}
            shape["required"] = set(schema.get("required", ()))
        if "items" in schema:
            shape["items"] = self.shape(schema["items"], depth + 1)
        for group in ("anyOf", "oneOf", "allOf"):
            for part in schema.get(group, ()):
                other = self.shape(part, depth + 1)
                shape["kinds"] |= other["kinds"]
                shape["members"] = {**other["members"], **shape["members"]}
                shape["required"] |= other["required"] if group == "allOf" else set()
                shape["items"] = shape["items"] or other["items"]
        return shape


def _kinds_of(schema: Mapping[str, Any]) -> set[str]:
    told = schema.get("type")
    if told is None:
        if "properties" in schema:
            return {"object"}
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        if values:
            return {_kind_of_value(value) for value in values} - {"null"}
        composed = any(group in schema for group in ("anyOf", "oneOf", "allOf"))
        return set() if composed else set(_ANYTHING)
    kinds = {told} if isinstance(told, str) else set(told)
    return {"number" if kind == "integer" else kind for kind in kinds} - {"null"}


def _kind_of_value(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "null" if value is None else "string" if isinstance(value, str) else "object"
