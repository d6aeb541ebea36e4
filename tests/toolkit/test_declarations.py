"""The declarations are valid TypeScript, agree with the runtime's table, and cause errors for invalid code."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from svcnb import tools
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.declarations import declarations, project
from svcnb.toolkit.runtime import functions

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = '/// <reference path="./action.d.ts" />\n// @ts-check\n'


@pytest.fixture
def check(tmp_path):
    """Checks a source with the TypeScript compiler of Deno, and returns its output."""
    (tmp_path / "action.d.ts").write_text(declarations())
    (tmp_path / "jsconfig.json").write_text(project())
    # Configuration of Deno with the same compiler options, except those that Deno does not support.
    (tmp_path / "deno.json").write_text('{"compilerOptions": {"lib": ["esnext", "dom"], "noImplicitAny": false}}')

    def run(source: str) -> str:
        (tmp_path / "action.js").write_text(REFERENCE + source)
        done = subprocess.run(
            [tools.deno(), "check", "--quiet", "--no-remote", "--no-npm", "--cached-only", "--no-lock", "action.js"],
            cwd=tmp_path,
            env=tools.deno_environment() | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return "" if done.returncode == 0 else done.stderr

    return run


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize(
    "source",
    [
        (
            "async function main({ pkpId }) {\n"
            "  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));\n"
            "  console.log(SvcHeaders.get('x-request-id'), await SvcActions.Encrypt({ pkpId, message: 'hello' }));\n"
            "  return { address: wallet.address };\n}\n"
        ),
        "const main = () => Svc.Actions.setResponse({ response: [1] });",
    ],
)
def test_a_correct_action_is_accepted(check, source) -> None:
    assert check(source) == ""


@pytest.mark.engine
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("const main = () => Svc.Actions.getPrivatKey({});", "getPrivateKey"),
        ("const main = () => Svc.Actions.getPrivateKey({ id: '0x' });", "pkpId"),
        ("const main = async () => (await Svc.Actions.getSvcActionPrivateKey()).nothing;", "nothing"),
        ("const main = () => Buffer.from('');", "never"),
        ("const main = () => { Svc.Actions.Encrypt = null; };", "read-only"),
    ],
)
def test_a_wrong_action_has_type_errors(check, source, said) -> None:
    assert said in check(source)


def test_every_function_of_every_vocabulary_is_declared() -> None:
    for words in (Vocabulary(), Vocabulary(service="acme")):
        text = declarations(words)
        assert [name for name in functions(words) if f"\n  {name}(" not in text] == []
    assert "Svc" not in declarations(Vocabulary(service="acme"))


def test_the_declarations_in_the_panels_are_up_to_date() -> None:
    assert (ROOT / "widgets/src/lib/action.d.ts").read_text() == declarations()
