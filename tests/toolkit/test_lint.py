# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Findings of the linter, which agree with the runtime: an action with an error fails, and an action without findings
runs."""

from __future__ import annotations

import pytest

from svcnb import Action, ActionError, BadRequest
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.lint import lint
from svcnb.toolkit.runtime import ABSENT, GLOBALS, functions, namespaces

KEY = "Svc.Actions.getPrivateKey({ pkpId })"

# Each of these actions must fail when it runs with the parameters below.
ERRORS = {
    "const run = () => 1": ["main_missing"],
    "function inner() { function main() {} }": ["main_missing"],
    "const main = ( => 1": ["syntax"],
    "const main = () => { return 1": ["syntax"],
    "const main = () => pkpId": ["param_as_global"],
    "async function main() { return params.n }": ["param_as_global"],
    "async function main({ n }) { return n + m }": ["param_as_global"],
    "const main = () => { helper(1) }": ["unknown_name"],
    "const main = () => { consol.log(1) }": ["unknown_name"],
    "const main = () => Bufer.from('')": ["unknown_name"],
    "const main = () => Buffer.from('')": ["not_provided"],
    "const main = () => require('fs')": ["not_provided"],
    "const main = () => process.env.X": ["not_provided"],
    "const main = () => { const x = 1; { const y = x } return y }": ["param_as_global"],
    "const main = async () => await Svc.Actions.getPrivatKey({})": ["unknown_function"],
    "const main = async () => await SvcActions.signEcdsa({})": ["unknown_function"],
    "const main = async () => await Svc.getPrivateKey({ pkpId: '0x' })": ["unknown_member"],
    "const main = async () => (await Svc.Actions.getPrivateKey()).length": ["wrong_argument"],
    "const main = async () => (await Svc.Actions.getPrivateKey({ x: 1 })).length": ["unused_argument", "wrong_argument"],
    "const main = () => eval('1')": ["code_from_text"],
    "const main = () => new Function('return 1')()": ["code_from_text"],
    "const main = async () => (await import('x')).y": ["dynamic_import"],
    "const n = await Promise.resolve(1); const main = () => n": ["await_outside"],
    "export const main = () => 1": ["export"],
    "import x from 'lodash'; const main = () => x": ["import_version"],
    "const main = (a, b) => b.c": ["main_arguments"],
}  # fmt: skip

WARNINGS = {
    "const main = () => 1; main()": ["main_called"],
    f"const main = async ({{ pkpId }}) => {KEY}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ return {{ key: await {KEY} }} }}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ const k = await {KEY}; const copy = k; return [copy] }}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ let k; k = await {KEY}; return `${{k}}` }}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ const k = await {KEY}; return k.slice(2) }}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ const k = await {KEY}; return JSON.stringify({{ k }}) }}": [
        "key_in_response"
    ],
    "async function main() { return new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey()).privateKey }": [
        "key_in_response"
    ],
    f"async function main({{ pkpId }}) {{ console.log('key', await {KEY}) }}": ["key_in_logs"],
    f"async function main({{ pkpId }}) {{ Svc.Actions.setResponse({{ response: await {KEY} }}) }}": ["key_in_response"],
    f"async function main({{ pkpId }}) {{ await fetch('https://a.test', {{ body: await {KEY} }}) }}": [
        "key_in_request"
    ],
    "async function main({ ids }) { for (const pkpId of ids) { await Svc.Actions.getPrivateKey({ pkpId }) } }": [
        "key_operations_in_loop"
    ],
    "async function main({ urls }) { await Promise.all(urls.map((url) => fetch(url))) }": ["outbound_requests_in_loop"],
    "const main = ({ pkpId }) => { Svc.Actions.getPrivateKey({ pkpId }); return 1 }": ["not_awaited"],
    "const main = () => { fetch('https://example.org/'); return 1 }": ["not_awaited"],
    "async function save() {} async function main() { save(); return 1 }": ["not_awaited"],
    "const save = async () => 1; const main = () => { (save()); }": ["not_awaited"],
    "const apiKey = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ='; const main = () => apiKey.length": [
        "secret_in_source"
    ],
    "async function main() {\n" + "  await Svc.Actions.getSvcActionWalletAddress({ ipfsId: 'a' });\n" * 11 + "}": [
        "too_many_key_operations"
    ],
}

OWN = "const w = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());"
FIELDS = "{ T: [{ name: 'to', type: 'address' }] }"
ENDING = "{ T: [{ name: 'to', type: 'address' }, { name: 'deadline', type: 'uint256' }] }"
VERIFY = "ethers.utils.verifyMessage"
TEXT = "const text = (value) => value.join();"
# Mistakes in vulnerable versions of recipes. The linter finds them, and the tests do not run them.
VULNERABLE = {
    f"async function main({{ rpc }}) {{ {OWN} const r = await fetch(rpc); return w.signMessage(await r.text()) }}": [
        "param_as_host"
    ],
    f"async function main(params) {{ {OWN} const url = params?.url ?? 'https://a.test'; await fetch(`${{url}}/x`); }}": [
        "param_as_host"
    ],
    f"async function main(params) {{ {OWN} await fetch(params.host + '/x'); }}": ["param_as_host"],
    f"async function main({{ rpc }}) {{ {OWN} return w.connect(new ethers.providers.JsonRpcProvider(rpc)).address }}": [
        "param_as_host"
    ],
    f"async function main(m) {{ {OWN} return w._signTypedData({{ name: 'a' }}, {FIELDS}, m) }}": [
        "no_chain_id", "no_deadline",
    ],
    f"const F = {FIELDS}; async function main(m) {{ {OWN} const d = {{ chainId: 1 }}; return w._signTypedData(d, F, m) }}": [
        "no_deadline"
    ],
    "async function main(p) { const key = await Svc.Actions.Decrypt(p); console.log(`key ${key}`); return 1 }": [
        "secret_in_logs"
    ],
    f"async function main({{ text, signature, signer }}) {{ {OWN} {VERIFY}(text, signature) === signer && w.address }}": [
        "named_signer"
    ],
    f"async function main(p) {{ {OWN} const who = {VERIFY}(text(p.a), p.sig); if (who !== p.by) throw 1; }} {TEXT}": [
        "named_signer"
    ],
    f"async function main({{ r }}) {{ {OWN} const {{ a, sig, by }} = r; if (by == {VERIFY}(a, sig)) return w.address }}": [
        "named_signer"
    ],
    "async function main(p) { return ethers.utils.id(JSON.stringify(p)) }": ["json_order"],
    f"async function main({{ r }}) {{ {OWN} const t = JSON.stringify({{ ...r, n: 1 }}); return w.signMessage(t) }}": [
        "json_order"
    ],
    "const main = ({ r }) => ethers.utils.keccak256(ethers.utils.toUtf8Bytes(JSON.stringify(r)))": ["json_order"],
    f"async function main({{ user }}) {{ {OWN} if (user.toLowerCase() !== 'ada') throw 1; return w.address }}": [
        "folded_name"
    ],
    f"async function main(p) {{ {OWN} if (OWNER.email === p.email.toUpperCase()) return w.address }} const OWNER = {{}};": [
        "folded_name"
    ],
    f"async function main(p) {{ {OWN} return p.claims.sub.localeCompare('ada') === 0 && w.address }}": ["folded_name"],
}  # fmt: skip
CAREFUL = [
    f"async function main(p) {{ {OWN} return {VERIFY}(p.text, p.sig) === OWNER && w.address }} const OWNER = '0x0';",
    # As in a permit (ERC-2612), the signed data contain the signer, who acts for themselves.
    f"async function main(p) {{ {OWN} return {VERIFY}(text(p.order), p.sig) === p.order.from && w.address }} {TEXT}",
    f"async function main({{ text, signature, signer }}) {{ return {VERIFY}(text, signature) === signer }}",
    f"async function main({{ a }}) {{ {OWN} return w.signMessage(JSON.stringify({{ a, n: 1 }})) }}",
    "async function main({ r }) { return ethers.utils.id(JSON.stringify(r, ['a', 'b'])) }",
    f"async function main({{ to }}) {{ {OWN} return to.toLowerCase() === w.address.toLowerCase() }}",
    f"async function main({{ header }}) {{ {OWN} return header.name.toLowerCase() === 'x-id' && w.address }}",
    f"async function main({{ user }}) {{ {OWN} return user === 'ada' && w.address }}",
    "async function main({ url }) { const r = await fetch(url); return r.status }",
    f"async function main({{ city }}) {{ {OWN} const r = await fetch(`https://a.test/${{city}}`); return r.status }}",
    f"async function main({{ city }}) {{ {OWN} const r = await fetch('https://a.test/' + city); return r.status }}",
    f"async function main(m) {{ {OWN} const d = {{ ...m.domain }}; return w._signTypedData(d, m.types, m.message) }}",
    f"async function main(m) {{ {OWN} return w._signTypedData({{ chainId: 1 }}, {ENDING}, m) }}",
    "async function main(p) { return await Svc.Actions.Decrypt(p) }",
]  # fmt: skip

CLEAN = [
    "async function save() {} async function main() { await save(); return save(); }",
    "function save() {} const main = () => { save(); const later = (fetch) => { fetch(); }; return later.length; }",
    "const main = () => 1",
    "async function main({ n = 1, list: [a, ...rest] = [2], ...other }) { return n + a + rest.length; }",
    "main = () => 1",
    "globalThis.main = () => 1",
    "var main = async function named(params) { return params ? 1 : typeof nothing; }",
    "function main() { return later(); } function later() { var x = 1; if (x) { var y = 2; } return y; }",
    "const main = () => { try { throw new Error('x'); } catch (error) { return error.message; } }",
    "const main = () => { try { JSON.parse('{'); } catch { return 1; } }",
    "const main = () => { let n = 0; for (const [key, value] of Object.entries({ a: 1 })) n += key + value; return n; }",
    "class Box { #in = 1; static made = 0; get inside() { return this.#in; } }\nconst main = () => new Box().inside",
    "const main = () => { outer: for (let i = 0; i < 3; i++) { for (;;) { continue outer; } } return 1; }",
    "const { getPrivateKey } = Svc.Actions; const main = async ({ n }) => n",
    "const main = () => { const Svc = { Actions: { anything: () => 1 } }; return Svc.Actions.anything(); }",
    "const main = () => 'require(\"fs\") process.env' // Buffer\n",
    "const main = ({ n }) => ({ n, [`${n}`]: n, get it() { return n; } })",
    "async function* some() { yield 1; }\nconst main = async () => { for await (const one of some()) return one; }",
    "const main = () => { let a, b; [a, { b }] = [1, { b: 2 }]; return a ?? b; }",
    "const main = async () => (await Svc.Actions.getSvcActionWalletAddress({ ipfsId: 'x' })).length",
    "const main = async () => new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey()).address",
    "async function main() { const key = await SvcActions.getSvcActionPrivateKey(); return new ethers.Wallet(key).address; }",
    "const main = () => { switch (1) { case 1: { const x = 2; return x; } default: return 3; } }",
    "const main = () => /a+/u.test('aa') && 10n > 2n && `t${1}` !== 't'",
    "const f = (n) => n < 2 ? 1 : n * f(n - 1); const main = () => f(5)",
    "'use strict';\nfunction main() { return arguments.length; }",
    "const main = async () => { const { a, ...rest } = { a: 1, b: 2 }; return [a, rest.b, self === globalThis]; }",
]  # fmt: skip

PARAMS = {"n": 1, "list": [1]}


@pytest.mark.parametrize("source", VULNERABLE)
def test_typical_mistakes_in_recipes_are_found(source) -> None:
    assert lint(source).codes == VULNERABLE[source]


@pytest.mark.parametrize("source", CAREFUL)
def test_correct_code_that_resembles_a_mistake_has_no_findings(source) -> None:
    assert lint(source).codes == []


@pytest.fixture(scope="module")
def svc(session_emulator):
    client = session_emulator.client()
    return client.with_key(client.accounts.create("linted"))


@pytest.mark.parametrize("source", ERRORS)
def test_actions_that_fail_have_errors(source) -> None:
    report = lint(source)
    assert sorted(report.codes) == sorted(ERRORS[source])
    assert not report.ok


@pytest.mark.parametrize("source", WARNINGS)
def test_actions_that_can_fail_have_warnings(source) -> None:
    report = lint(source)
    assert (report.codes, report.ok) == (WARNINGS[source], True)


@pytest.mark.parametrize("source", CLEAN)
def test_correct_actions_have_no_findings(source) -> None:
    assert lint(source).codes == []


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.parametrize("source", ERRORS)
def test_an_action_with_an_error_fails_in_the_runtime(svc, source) -> None:
    with pytest.raises((ActionError, BadRequest)):
        svc.run(source, PARAMS)


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.parametrize("source", CLEAN)
def test_a_correct_action_runs_in_the_runtime(svc, source) -> None:
    svc.run(source, PARAMS)


@pytest.mark.chain
@pytest.mark.engine
def test_the_linter_has_the_same_globals_as_the_runtime(svc) -> None:
    there = set(svc.run("const main = () => Object.getOwnPropertyNames(globalThis)").response)
    ours = set(namespaces(Vocabulary()))
    assert there - GLOBALS - set(ABSENT) - ours == {"main"} & there
    assert GLOBALS - there == {"arguments"}
    listed = svc.run("const main = () => Object.keys(Svc.Actions)").response
    assert sorted(listed) == sorted(functions(Vocabulary()))
    source = (
        "const works = (name) => { try { return typeof globalThis[name] === 'function' && !!new globalThis[name](); }"
        " catch { return false; } };\nconst main = (names) => names.filter(works)"
    )
    assert svc.run(source, sorted(ABSENT)).response == []


def test_a_finding_contains_the_position_and_the_fix() -> None:
    report = lint(Action("async function main() {\n  return pkpId;\n}\n", name="sign"))
    assert repr(report) == (
        "sign:2:10: error param_as_global: pkpId is not defined\n"
        "    Write main({ pkpId }): members of js_params are not globals."
    )
    assert "param_as_global" in report._repr_html_()
    assert repr(lint("const main = () => 1")) == "no problems found"


def test_a_source_above_the_size_limit_is_found() -> None:
    report = lint("const main = () => 1" + " " * 100, limits=ActionLimits(max_code_length=50))
    assert report.codes == ["source_too_large"]
    assert "120 bytes; at most 50" in report[0].message


def test_the_linter_supports_other_names_of_the_service() -> None:
    acme = Vocabulary(service="acme")
    assert lint("const main = async () => Acme.Actions.getAcmeActionPrivateKey().length", vocabulary=acme).ok
    report = lint(
        "const main = async () => (await Svc.Actions.getSvcActionWalletAddress({ ipfsId: '' }))", vocabulary=acme
    )
    assert report.codes == ["unknown_name"]


def test_positions_count_characters_as_editors_do() -> None:
    [finding] = lint("const main = () => { const s = 'ä€😀'; return nowhere; }")
    assert (finding.line, finding.column) == (
        1,
        "const main = () => { const s = 'ä€😀'; return nowhere; }".index("nowhere") + 1,
    )
