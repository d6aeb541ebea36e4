from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from svcnb.protocol.action import Action
from svcnb.protocol.errors import MalformedValue

SOURCE = "async function main(params) {\n  return params;\n}\n"


def test_cid_and_hash_equal_the_vectors(cid_vectors, hash_vectors) -> None:
    hashes = {vector["cid"]: vector["hashed_cid"] for vector in hash_vectors["hashed_cid"]}
    for vector in cid_vectors:
        if vector["generate"]["kind"] == "utf8":
            action = Action(vector["generate"]["text"])
            assert (action.cid, action.size) == (vector["cid"], vector["size"])
            assert action.hashed_cid == hashes[vector["cid"]]


def test_actions_are_equal_when_their_sources_are() -> None:
    assert Action(SOURCE, name="one") == Action(SOURCE, name="other")
    assert len({Action(SOURCE), Action(SOURCE, description="x"), Action(SOURCE + " ")}) == 2


def test_an_action_cannot_be_changed() -> None:
    action = Action(SOURCE)
    with pytest.raises(AttributeError):
        action.source = "other"  # type: ignore[misc]


def test_an_action_survives_pickling() -> None:
    action = Action(SOURCE, name="echo").derive({"a": 1})
    again = pickle.loads(pickle.dumps(action))  # noqa: S301 - written on the same line
    assert (again, again.name, again.stamp, again.template_cid) == (
        action,
        action.name,
        action.stamp,
        action.template_cid,
    )


def test_a_file_is_taken_byte_for_byte(tmp_path: Path, cid_vectors) -> None:
    wanted = {vector["name"]: vector for vector in cid_vectors}
    for name in ("JavaScript source, ASCII, CRLF", "UTF-8 byte order mark before source"):
        path = tmp_path / "echo.js"
        path.write_bytes(wanted[name]["generate"]["text"].encode())
        action = Action.from_file(path)
        assert (action.cid, action.name) == (wanted[name]["cid"], "echo")
    assert Action.from_file(str(path), name="other").name == "other"


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.js"
    path.write_bytes("function main() { return 'é'; }".encode("latin-1"))
    with pytest.raises(MalformedValue, match="is not valid UTF-8: byte 26 is 0xe9"):
        Action.from_file(path)


def test_invalid_sources_are_rejected_when_the_action_is_created() -> None:
    with pytest.raises(MalformedValue, match="looks like a file name, but a string"):
        Action("action.js")
    with pytest.raises(MalformedValue, match="surrogate"):
        Action("\udc00")
    with pytest.raises(TypeError, match=r"Action\.from_file"):
        Action(b"function main() {}")  # type: ignore[arg-type]


def test_the_repr_contains_only_values(cid_vectors) -> None:
    cid = next(vector["cid"] for vector in cid_vectors if vector["generate"].get("text") == SOURCE)
    assert repr(Action(SOURCE)) == f"Action({cid}, 49 bytes)"
    assert repr(Action(SOURCE, name="echo")) == f"Action('echo', {cid}, 49 bytes)"
    assert f"derived from {cid}" in repr(Action(SOURCE).derive(1))


def test_the_notebook_display_escapes_the_source() -> None:
    html = Action("function main() { return '<script>' }", name="<b>")._repr_html_()
    assert "<script>" not in html
    assert "&lt;b&gt;" in html
    assert Action(SOURCE).hashed_cid in Action(SOURCE)._repr_html_()


def test_a_derived_action_is_the_template_and_one_line() -> None:
    template = Action(SOURCE, name="echo", description="says it again")
    derived = template.derive({"cents": 500, "to": "0xé"}, name="LIMIT", protocol_version=3)
    assert derived.source == SOURCE + 'const LIMIT = {"cents": 500, "protocolVersion": 3, "to": "0x\\u00e9"};\n'
    assert derived.template_cid == template.cid
    assert derived.cid != template.cid
    assert (derived.name, derived.description) == ("echo", "says it again")
    assert template.derive(1, title="t", description="").name == "t"


def test_the_version_of_a_constant_that_is_not_an_object_is_a_separate_constant() -> None:
    assert Action(SOURCE).derive("0xab", name="TO").source.removeprefix(SOURCE) == (
        'const TO = "0xab", TO_PROTOCOL_VERSION = 1;\n'
    )


def test_the_constant_follows_a_template_that_ends_in_a_comment() -> None:
    assert Action("function main() {} // end").derive(1).source.splitlines()[1].startswith("const CONST = 1")


def test_equal_constants_give_equal_cids_and_others_do_not() -> None:
    template = Action(SOURCE)
    assert template.derive({"a": 1, "b": [2]}).cid == template.derive({"b": (2,), "a": 1}).cid
    versions = {template.derive({"a": 1}, protocol_version=version).cid for version in (1, 2, 3)}
    values = {template.derive(value).cid for value in (1, 1.5, "1", True, None, [1], {"1": 1})}
    assert len(versions | values) == 10


@pytest.mark.parametrize(
    "value", [None, True, 0, -1, 1.5, 2**53 - 1, "", "a\n\u2028;", [], [1, [2, {}]], {}, {"k": None}]
)
def test_an_auditor_reads_the_constant_back(value: Any) -> None:
    template = Action(SOURCE)
    derived = template.derive(value, name="K", protocol_version=2)
    stamp = template.parse_derived(Action(derived.source))
    assert stamp is not None
    assert (stamp.name, stamp.constant, stamp.protocol_version) == ("K", value, 2)
    assert derived.stamp == stamp


@pytest.mark.parametrize(
    "change",
    [
        lambda source: source + " ",
        lambda source: source + source.splitlines()[-1] + "\n",
        lambda source: source.replace('"a": 1', '"a":1'),
        lambda source: source.replace('"a": 1', '"a": alert()'),
        lambda source: source.replace("const", "let"),
        lambda source: source.replace("return params", "return 1"),
        lambda source: "\n" + source,
        lambda source: source.replace('"protocolVersion": 1', '"protocolVersion": 0'),
        lambda source: source.replace(', "protocolVersion": 1', ""),
        lambda source: source[: len(SOURCE)],
    ],
)
def test_an_auditor_rejects_every_other_source(change: Any) -> None:
    template = Action(SOURCE)
    source = change(template.derive({"a": 1}).source)
    assert template.parse_derived(Action(source)) is None


@pytest.mark.parametrize(
    "name", ["", "1a", "a-b", "a b", "const", "main", "await", "é", "a;b", "undefined", None, "a" * 200]
)
def test_names_that_javascript_would_not_declare_are_refused(name: Any) -> None:
    with pytest.raises(MalformedValue, match="invalid constant name"):
        Action(SOURCE).derive(1, name=name)


@pytest.mark.parametrize(
    ("constant", "said"),
    [
        (2**53, "2\\*\\*53 - 1"),
        ({"deep": [-(2**60)]}, r"CONST\['deep'\]\[0\]"),
        (float("nan"), "finite"),
        (float("-inf"), "finite"),
        (b"ab", "0x hex"),
        ({1: 2}, "keys must be strings"),
        ({"__proto__": {}}, "__proto__"),
        ({"protocolVersion": 4}, "pass protocol_version=4"),
        (object(), "JSON cannot represent"),
        ({"a": {1, 2}}, "JSON cannot represent"),
    ],
)
def test_constants_that_javascript_would_read_otherwise_are_refused(constant: Any, said: str) -> None:
    with pytest.raises(MalformedValue, match=said):
        Action(SOURCE).derive(constant)


def test_a_constant_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(MalformedValue, match="contains itself"):
        Action(SOURCE).derive(loop)
    twice = [1]
    assert Action(SOURCE).derive([twice, twice]).stamp is not None


def test_a_constant_that_is_nested_too_deeply_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(MalformedValue, match="more than 32 levels"):
        Action(SOURCE).derive(deep)


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_versions_are_positive_whole_numbers(version: Any) -> None:
    with pytest.raises(MalformedValue, match="protocol_version"):
        Action(SOURCE).derive(1, protocol_version=version)


@pytest.mark.parametrize(
    "declared", ["const CONST = 1;", "  let CONST;", "function CONST() {}", "class CONST {}", "var  CONST"]
)
def test_a_name_that_the_template_declares_is_refused(declared: str) -> None:
    with pytest.raises(MalformedValue, match="already declares CONST, on line 4"):
        Action(SOURCE + declared).derive({})
    assert Action(SOURCE + declared.replace("CONST", "CONSTANT")).derive({}).stamp is not None


def test_deriving_with_the_same_name_twice_is_refused_and_with_two_names_is_not() -> None:
    once = Action(SOURCE).derive({"a": 1})
    with pytest.raises(MalformedValue, match="already declares CONST"):
        once.derive({"a": 2})
    twice = once.derive({"b": 2}, name="MORE")
    assert twice.template_cid == once.cid


def test_later_changes_of_the_argument_do_not_change_the_derived_action() -> None:
    constant = {"a": [1]}
    derived = Action(SOURCE).derive(constant)
    constant["a"].append(2)
    assert derived.stamp is not None
    assert derived.stamp.constant == {"a": [1]}


def test_a_difference_shows_its_position_and_invisible_characters() -> None:
    older = Action("a\nb\nc\n")
    found = older.diff(Action("a\nb \r\nc"))
    assert (found.first_byte, found.changed_bytes, found.same) == (3, 4, False)
    assert found.lines == (" a", "-b", "-c", "+b ␍", "+c [no newline]")
    assert str(found).startswith(f"{older.cid} -> ")
    assert older.diff(Action("a\nb  \nc\n")).lines[2] == "+b··"
    assert older.diff(Action("\ufeffa\nb\nc\n")).lines[:2] == ("-a", "+[BOM]a")


def test_equal_actions_have_no_difference() -> None:
    found = Action(SOURCE).diff(Action(SOURCE, name="other"))
    assert (found.same, found.first_byte, found.lines) == (True, None, ())
    assert str(found) == f"the same action, {Action(SOURCE).cid}"


def test_a_difference_in_a_long_source_shows_only_the_lines_around_it() -> None:
    source = "".join(f"line {number}\n" for number in range(500))
    found = Action(source).diff(Action(source.replace("line 9\n", "line nine\n").replace("line 400\n", "")))
    assert found.lines == (
        " line 7",
        " line 8",
        "-line 9",
        "+line nine",
        " line 10",
        " line 11",
        " …",
        " line 398",
        " line 399",
        "-line 400",
        " line 401",
        " line 402",
    )


def test_a_difference_is_escaped_in_notebooks() -> None:
    html = Action("<a>").diff(Action("<b>"))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<a>" not in html


def test_the_deprecated_name_of_parse_derived_issues_a_warning() -> None:
    template = Action("function main() { return CONST; }")
    with pytest.warns(DeprecationWarning, match=r"Action\.stamp_in is deprecated.*use Action\.parse_derived"):
        assert template.stamp_in(template.derive({"cents": 1})) == template.parse_derived(template.derive({"cents": 1}))
