"""Released templates do not change, and the registry stores the template and constant of every derived action."""

from __future__ import annotations

import pytest

from svcnb import Action, InvalidArgument
from svcnb.toolkit.templates import TemplateChanged, Templates

SOURCE = "async function main() {\n  return LIMIT.cents;\n}\n"


@pytest.fixture
def templates(tmp_path) -> Templates:
    (tmp_path / "limit.js").write_text(SOURCE)
    made = Templates(tmp_path / "templates.json")
    made.release("limit", "limit.js", constant_name="LIMIT", description="answers its limit")
    return made


def test_the_registry_records_the_same_derived_action_as_derive(templates) -> None:
    action = templates.derive("limit@1", {"cents": 500}, name="small")
    assert action.cid == Action(SOURCE).derive({"cents": 500}, name="LIMIT", protocol_version=1).cid
    again = Templates(templates.path)
    [known] = again.derived()
    assert (known.name, known.cid, known.template, known.constant) == ("small", action.cid, "limit@1", {"cents": 500})
    assert again.origin(action) == known
    assert again.origin(Action(SOURCE)) is None
    assert again.derive("limit@1", {"cents": 500}, name="small").cid == action.cid
    assert again.check() == []


@pytest.mark.chain
@pytest.mark.engine
def test_a_derived_action_runs(templates, emulator) -> None:
    svc = emulator.client().with_key(emulator.client().accounts.create("derived"))
    assert svc.run(templates.derive("limit@1", {"cents": 7}, name="seven")).response == 7


@pytest.mark.parametrize("change", [SOURCE + "\n", SOURCE.replace("\n", "\r\n"), SOURCE.replace("cents", "Cents")])
def test_one_changed_byte_of_a_template_stops_every_use(templates, change) -> None:
    templates.derive("limit@1", {"cents": 500}, name="small")
    (templates.path.parent / "limit.js").write_bytes(change.encode())
    with pytest.raises(TemplateChanged, match="was released with the CID"):
        templates.derive("limit@1", {"cents": 500}, name="small")
    assert len(templates.check()) == 1
    with pytest.raises(TemplateChanged):
        templates.release("limit", "limit.js", constant_name="LIMIT")
    templates.release("limit", "limit.js", version="2", constant_name="LIMIT")
    assert list(templates) == ["limit@1", "limit@2"]


def test_a_manually_changed_registry_is_detected(templates) -> None:
    templates.derive("limit@1", {"cents": 500}, name="small")
    text = templates.path.read_text()
    templates.path.write_text(text.replace('"cents": 500', '"cents": 501'))
    [wrong] = Templates(templates.path).check()
    assert "for small of limit@1, but the constant results in" in wrong


@pytest.mark.parametrize(
    ("constant", "said"),
    [
        ({"cents": "500"}, "has the structure"),
        ({"euros": 1}, "has the structure"),
        (500, "has the structure"),
    ],
)
def test_a_constant_with_another_structure_is_rejected(templates, constant, said) -> None:
    templates.derive("limit@1", {"cents": 500}, name="small")
    with pytest.raises(InvalidArgument, match=said):
        templates.derive("limit@1", constant, name="other")


def test_invalid_constants_and_names_are_rejected(templates, tmp_path) -> None:
    with pytest.raises(InvalidArgument, match="rounds integers"):
        templates.derive("limit@1", {"cents": 2**60}, name="huge")
    templates.derive("limit@1", {"cents": 1}, name="one")
    with pytest.raises(InvalidArgument, match="derived with another constant"):
        templates.derive("limit@1", {"cents": 2}, name="one")
    with pytest.raises(InvalidArgument, match="unknown template 'none@1'"):
        templates.template("none@1")
    with pytest.raises(InvalidArgument, match="cannot be read"):
        templates.release("gone", "gone.js")
    with pytest.raises(InvalidArgument, match="invalid constant name"):
        templates.release("named", "limit.js", constant_name="class")
    with pytest.raises(InvalidArgument, match="invalid template name"):
        templates.release("a@b", "limit.js")
    (tmp_path / "other.json").write_text("{}x")
    with pytest.raises(InvalidArgument, match="not a registry"):
        Templates(tmp_path / "other.json")
