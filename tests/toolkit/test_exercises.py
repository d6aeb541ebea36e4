"""Feedback of the exercises: for a wrong answer, the hint describes the mistake."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace as Some
from typing import Any, Final

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

import svcnb
from svcnb.client.errors import BadRequest, ChainError, Forbidden, NotFound, PaymentFailed, SigningError, Unauthorized
from svcnb.client.models.billing import Balance
from svcnb.client.models.explanation import Explanation, ExplanationWarning
from svcnb.client.models.runs import Run
from svcnb.client.models.triggers import TriggerRun
from svcnb.client.models.usage_keys import UsageKey
from svcnb.toolkit.exercises import (
    EXERCISES,
    Exercise,
    actions_and_cids,
    check,
    convert_and_transfer,
    keys,
    typed_data,
)
from svcnb.toolkit.exercises.actions_and_cids import TEMPLATE_CID

ADA, GRACE = (Account.from_key(svcnb.practice_key(number)) for number in (1, 2))
CID: Final = "QmUK99X9TQcimwHFkis6Ge9DaD6YPTJD3ViPB8Fa4yAEkN"
TEMPLATE: Final = svcnb.Action(
    """async function main({ amount }) {
  if (amount > LIMIT.cents) throw new Error(`at most ${LIMIT.cents} cents`);
  return `paid ${amount}`;
}
"""
)
LESSON_TIME_S: Final = 1_767_225_600
DAY_S: Final = 86_400
WALLET: Final = "0x6be19125abc947115d4aa68e232b9d458470ecdf"
TYPED: Final = {
    "types": {
        "EIP712Domain": [{"name": "name", "type": "string"}],
        "AddUsageApiKey": [{"name": "address", "type": "address"}],
    },
    "domain": {"name": "Svc"},
    "primaryType": "AddUsageApiKey",
    "message": {"address": GRACE.address},
}


def sign(text: str, signer: Any = ADA) -> Any:
    return "0x" + signer.sign_message(encode_defunct(text=text)).signature.hex()


def run(response: Any) -> Run:
    return Run(response=response, cid=CID)


def greeting(**changes: Any) -> Run:
    answer = {"message": "Hi!", "address": ADA.address, "signature": sign("Hi!"), "length": 3}
    return run({name: value for name, value in (answer | changes).items() if value is not None})


def refusal(kind: type[svcnb.ServiceError], status: int, message: str = "no") -> svcnb.ServiceError:
    return kind(message, status=status, code="x", request_id="r")


def usage_key(**changes: Any) -> UsageKey:
    return UsageKey(**({"name": "k", "api_key_hash": "0x" + "ab" * 32, "execute_in_groups": (1,)} | changes))


def explained(**changes: Any) -> Explanation:
    known = {"allowed": True, "reason": "all meet", "key": "'k' 0xabababab…abab", "action": "a", "wallet": WALLET}
    return Explanation(**(known | changes))


def witnessed(**changes: Any) -> tuple[Run, dict[str, str]]:
    found = {"address": GRACE.address.lower(), "publicKey": "0x02"} | changes.pop("found", {})
    answer = {"fact": "IT RAINED", "signature": sign("IT RAINED", GRACE)} | changes
    return run(answer), found


def fired(result: Any = 14, *, status: str = "success", error: str | None = None, **given: Any) -> TriggerRun:
    source = "chain_event" if "event" in given else "webhook"
    known = {"source": source, "event_raw": "how long am I?", "event_raw_encoding": "utf-8", "headers": {}}
    answer = {"response": result} if status == "success" else None
    return TriggerRun(id="1", status=status, error=error, input=known | given, response=answer)


def account(admin: str, *, signer: object = ADA, really: str | None = None) -> Any:
    owner = Some(address=admin, signer=signer)
    return Some(owner=owner, api_key_hash=f"hash of {admin}", describe=lambda: Some(admin=really or admin))


def entry(what: str, event: str = "ActionAddedToGroup") -> Any:
    return Some(what=what, event=event, time=datetime(2026, 1, 1, tzinfo=UTC))


def change(subject: str, permission: str, sign_: str = "-") -> Any:
    return Some(change=sign_, subject=subject, permission=permission)


def batch(numbers: Any, responses: Any, *, done: bool = True, failed: Any = ()) -> Any:
    return Some(
        params=[{"n": n} for n in numbers], responses=lambda: responses, done=done, failed=failed, pending=[1, 2]
    )


def chart(*rows: dict[str, Any]) -> Any:
    return Some(to_dict=lambda: {"datasets": {"data": list(rows)}})


LOST: Final = [
    change("account", "belongs to 0x12"),
    change("account", "is in API mode"),
    change("usage key 'runner'", "is valid until 2035-12-30 00:00:00 UTC"),
    change("usage key 'runner'", "can execute in group 1 'adders'"),
]
STATUSES: Final = {
    "a key that was deleted yesterday": 401,
    "a run by the account key of an account without credit": 402,
    "a usage key runs an action that only a group of another account permits": 403,
    "a mistyped key, and no credit": 401,
    "an account without credit, and a usage key that is not allowed to run the action": 402,
}

WRONG: Final[dict[str, list[tuple[Any, str]]]] = {
    "primer.checksum": [
        ("0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a", "wrong case"),
        ("0x19E7E376E7C213B7E7E7E46CC70A5DD086DAFF2A", "wrong case"),
        (GRACE.address, "different address"),
        ("0x12", "different address"),
        (7, "an address as a string"),
    ],
    "primer.signature": [
        (sign("I know what I sign"), "Grace did not make this signature"),
        (sign("I know what I sign.", GRACE), "Grace did not make this signature"),
        (b"\x00" * 65, "not a signature"),
        (b"abc", "not a signature"),
        (GRACE, "a signature"),
    ],
    "primer.who": [
        ("Ada", "Ada did not sign"),
        ("Grace", "Grace did not sign"),
        ("alan", "one of the three names"),
        (ADA.address, "one of the three names"),
        (3, "one of the three names"),
    ],
    "quickstart.length": [
        (greeting(length=None), "does not have the field length"),
        (greeting(length="3"), "length is '3', but the message has 3"),
        (greeting(length=4), "length is 4"),
        (greeting(signature=sign("Ho!")), "does not match"),
        (greeting(message=None), "message, address and signature"),
        (greeting(message=7), "must be strings"),
        (run("Hi!"), "message, address and signature"),
        ({"length": 3}, "a Run"),
    ],
    "quickstart.refused": [
        (refusal(Unauthorized, 401), "status 401"),
        (refusal(NotFound, 404), "status 404"),
        (Forbidden, "the answer is the class"),
        ("403", "the error that was raised"),
        (greeting(), "the error that was raised"),
    ],
    "cids.changes": [
        ({"different js_params"}, "'different js_params' does not change any byte"),
        ({"the file saved under another name"}, "does not change any byte"),
        ({"a comment with other words"}, "2 more"),
        (set(), "3 more"),
        ({"a new line"}, "not on the list"),
    ],
    "cids.derive": [
        (svcnb.Action("const main = () => 1;"), "is not a derived action"),
        (TEMPLATE.derive({"cents": 1200}, name="MAXIMUM"), "defines MAXIMUM"),
        (TEMPLATE.derive({"dollars": 12}, name="LIMIT"), "an integer"),
        (TEMPLATE.derive({"cents": "1200"}, name="LIMIT"), "an integer"),
        (TEMPLATE.derive({"cents": 500}, name="LIMIT"), "choose another limit"),
        (svcnb.Action("const main = () => LIMIT;\n").derive({"cents": 5}, name="LIMIT"), "different template"),
        (svcnb.Action(TEMPLATE.source + "const LIMIT = 1200;\n"), "an integer"),
        (svcnb.Action(TEMPLATE.source + "const LIMIT = {cents: 1200};\n"), "names in double quotes"),
        (TEMPLATE.cid, "an Action"),
    ],
    "keys.who": [
        ({"an action keeps its key when a comment changes"}, "is false"),
        ({"an action can get another action's private key"}, "is false"),
        ({"anyone can find an action's address"}, "2 more"),
        ("anyone can find an action's address", "2 more"),
        (["everyone"], "not on the list"),
    ],
    "keys.witness": [
        (witnessed(fact="it rained"), "capital letters"),
        (witnessed(signature=sign("IT RAINED", ADA)), "getSvcActionPrivateKey()"),
        (witnessed(found={"address": ADA.address}), "the address that `look` found"),
        ((witnessed()[0], GRACE.address), "the result of `look`"),
        ((run("IT RAINED"), witnessed()[1]), "fact and signature"),
        (witnessed(fact=7), "must be strings"),
        (witnessed(signature="0xsigned"), "is not valid"),
        (witnessed()[0], "a pair"),
    ],
    "groups.status": [
        (STATUSES | {"a mistyped key, and no credit": 402}, "1 of the 5 statuses is wrong"),
        (dict.fromkeys(STATUSES, 403), "4 of the 5 statuses are wrong"),
        (dict.fromkeys(STATUSES, ...), "5 of the 5 situations do not have a status"),
        (dict.fromkeys(STATUSES, "401"), "'401' is not one of the three"),
        ({situation: [401, 402] for situation in STATUSES}, "[401, 402] is not one of the three"),
        ({"a mistyped key, and no credit": 401}, "keep the 5 situations"),
    ],
    "groups.least": [
        ((usage_key(can_create_groups=True), explained()), "create groups"),
        ((usage_key(execute_in_groups=(1, 2)), explained()), "execute in groups 1, 2"),
        ((usage_key(execute_in_groups=(0,)), explained(every_group=True)), "every group"),
        ((usage_key(), explained(wallet=None)), "include the wallet"),
        ((usage_key(), explained(allowed=False, reason="no group permits it")), "no group permits it"),
        ((usage_key(), explained(key="'other' 0x12345678…9abc")), "different key"),
        (
            (usage_key(), explained(warnings=(ExplanationWarning(code="wildcard_action", text="every action"),))),
            "every action",
        ),
        (explained(), "a pair"),
    ],
    "typed-data.changes": [
        ({"the address in lower case"}, "not the hashed data"),
        ({"whitespace between the members of the JSON text"}, "not the hashed data"),
        ({"issuedAt one second later"}, "3 more"),
        (set(), "4 more"),
        ({"chainId"}, "not on the list"),
    ],
    "typed-data.sign": [
        (Some(flow=Some(value="CreateWallet")), "for CreateWallet"),
        (Some(flow=Some(value="BillingAuth")), "for BillingAuth"),
        (
            Some(
                flow=Some(value="AddUsageApiKey"),
                typed_data=TYPED,
                signature=ADA.sign_typed_data(full_message=TYPED).signature.hex(),
                address=GRACE.address,
            ),
            "recovered from the signature is not message.address",
        ),
        (sign("AddUsageApiKey"), "a signed envelope"),
        ({"primaryType": "AddUsageApiKey"}, "a signed envelope"),
        (ADA, "a signed envelope"),
    ],
    "chain-secured.stop": [
        (SigningError("the wallet is locked"), "different reason"),
        (ChainError("no gas"), "the answer is a ChainError"),
        (refusal(Forbidden, 403), "the answer is a Forbidden"),
        (False, "the error that was raised"),
        ("stopped before signing", "the error that was raised"),
    ],
    "chain-secured.weekly": [
        (usage_key(), "never expires"),
        (usage_key(expiration=LESSON_TIME_S + 30 * DAY_S), "seven days"),
        (usage_key(expiration=LESSON_TIME_S + 7 * DAY_S, can_create_pkps=True), "create wallets"),
        (usage_key(expiration=LESSON_TIME_S + 7 * DAY_S, execute_in_groups=(0,)), "exactly one group"),
        (usage_key(expiration=LESSON_TIME_S + 7 * DAY_S, execute_in_groups=(1, 2)), "exactly one group"),
        ("7d", "a usage key"),
    ],
    "contract-wallets.refused": [
        (refusal(BadRequest, 400, "message.issuedAt is too old"), "different reason"),
        (ChainError("no"), "the answer is a ChainError"),
        (refusal(Forbidden, 403), "the answer is a Forbidden"),
        ("400", "the error that was raised"),
        (BadRequest, "the error that was raised"),
    ],
    "contract-wallets.account": [
        ((account("0x1"), account("0x1")), "the same account"),
        ((account("0x1"), account("0x2", signer=None)), "a key owns the second account"),
        ((account("0x1"), account("0x2", really="0x3")), "belongs to another wallet"),
        ((account("0x1", signer=None), account("0x2")), "a key owns the first account"),
        (account("0x1"), "a pair of accounts"),
    ],
    "convert-and-transfer.after": [
        ({"create a group"}, "cannot do after the conversion"),
        ({"convert the account back"}, "cannot do after the conversion"),
        ({"run an action"}, "2 more"),
        (set(), "3 more"),
        ({"everything"}, "not on the list"),
    ],
    "convert-and-transfer.never-again": [
        (ChainError("no", name="NoAccountAccess"), "with the wallet of the current owner"),
        (ChainError("no", name="InvalidRequest"), "InvalidRequest"),
        (ChainError("the node does not answer"), "returned another error"),
        (refusal(Forbidden, 403), "the answer is a Forbidden"),
        ("AccountAlreadyExists", "the error that was raised"),
    ],
    "audit.culprit": [
        (entry("remove every action from group 1 'adders'", "ActionRemovedFromGroup"), "removes the permission"),
        (entry("create group 1 'adders'", "GroupAdded"), "find the entry that permits every action"),
        (entry("register action 0xe86d", "ActionAdded"), "find the entry that permits every action"),
        ([entry("permit every action in group 1")], "one entry"),
        (14, "one entry"),
    ],
    "audit.lost": [
        (LOST[:2], "does not contain 2 of the lost permissions"),
        (LOST[2:], "does not contain 2 of the lost permissions"),
        ([], "the list is empty"),
        ([*LOST, change("account", "is ChainSecured", "+")], "the list contains added permissions"),
        ([*LOST, change("group 1 'adders'", "permits every action")], "too many"),
        (4, "a list of changes"),
    ],
    "credits.forecast": [
        (118, "runs that throw an error cost nothing"),
        (200, "too high"),
        (106, "too low"),
        (-113, "too low"),
        (1.13, "an integer number of cents"),
        (True, "an integer number of cents"),
    ],
    "credits.round": [
        (Balance(balance_cents=-500, balance_display="$5.00 credit"), "$5.00 credit, not $10.00"),
        (Balance(balance_cents=-1001, balance_display="$10.01 credit"), "$10.01 credit"),
        (Balance(balance_cents=0, balance_display="No credits"), "No credits"),
        (1000, "a Balance"),
        ("$10.00", "a Balance"),
    ],
    "credits.declined": [
        (refusal(BadRequest, 400), "the answer is a BadRequest"),
        (refusal(svcnb.Unavailable, 503), "the answer is an Unavailable"),
        (PaymentFailed, "the error that was raised"),
        ("declined", "the error that was raised"),
        (Balance(balance_cents=0, balance_display="No credits"), "the error that was raised"),
    ],
    "webhooks.length": [
        (fired(13), "main returned 13, but event_raw has 14"),
        (fired("14"), "main returned '14'"),
        (fired(status="failed", error="HTTP 500"), "HTTP 500"),
        (fired(status="queued"), "still queued"),
        (fired(source="schedule"), "create a trigger with kind='webhook'"),
        (14, "a TriggerRun"),
    ],
    "webhooks.signed": [
        (fired(), "no signature"),
        (fired(headers={"x-hub-signature-256": ["x"]}), "valid UTF-8"),
        (fired(headers={"x-hub-signature-256": ["x"]}, status="failed"), "exactly the bytes"),
        (fired(status="running"), "still running"),
        (b"\xff", "a TriggerRun"),
    ],
    "schedules.weekdays": [
        ("30 6 * * *", "weekends"),
        ("6 30 * * MON-FRI", "invalid schedule"),
        ("0 9 * * MON-FRI", "at 09:00:00"),
        ("30 6 * * MON-THU", "does not"),
        ("every weekday", "invalid schedule"),
        (630, "a schedule as a string"),
    ],
    "schedules.text": [
        (fired("noon", source="schedule", scheduled_at="2026-01-01T12:00:00Z"), "main returned 'noon'"),
        (fired(source="webhook"), "has the kind webhook"),
        (fired(status="failed", source="schedule", error="HTTP 402"), "HTTP 402"),
        (fired(status="queued", source="schedule"), "still queued"),
        ("2026-01-01T12:00:00Z", "a TriggerRun"),
    ],
    "chain-events.topic": [
        ("0x0a6be0007562a0daf417ae40de53d941d10fc9f1048be48b3f2e082233bc0a72", "different event"),
        ("0x12", "0x and 64 hex digits"),
        ("GroupAdded(uint256,uint256)", "0x and 64 hex digits"),
        ("", "0x and 64 hex digits"),
        (12, "a topic as a string of"),
    ],
    "chain-events.group": [
        (fired(event={"event_signature": "ActionAdded(uint256)", "decoded": {}}), "watch the event GroupAdded"),
        (fired(event={"event_signature": "GroupAdded(uint256)", "decoded": {"arg0": "1"}}), "names of the arguments"),
        (fired(7, event={"event_signature": "GroupAdded(x)", "decoded": {"groupId": "1"}}), "main returned 7"),
        (
            fired(status="failed", error="no", event={"event_signature": "GroupAdded(x)", "decoded": {"groupId": "1"}}),
            "the run failed: no",
        ),
        (fired(1), "create a trigger with kind='chain_event'"),
        (1, "a TriggerRun"),
    ],
    "history.days": [
        ((1, 28), "check the failed runs"),
        ((8, 15), "one of the two days is correct"),
        ((14, 8), "the first day is after the last day"),
        ((0, 14), "days must be from 1 to 28"),
        (8, "a pair of numbers"),
    ],
    "history.rates": [
        (chart({"at": 1, "rate": 95.0}), "includes other actions"),
        (chart({"action": "rates", "rate": 80.0}), "omit by='action'"),
        (chart({"at": 1, "cents": 5}), "does not show a success rate"),
        (chart(), "does not show a success rate"),
        ("rates.png", "a chart"),
    ],
    "batches.squares": [
        (batch(range(20), []), "every n from 0 to 20"),
        (batch(range(21), [], done=False), "2 runs are missing"),
        (batch(range(21), [n * n for n in range(21)]), "not the results of the action square"),
        (batch(reversed(range(21)), []), "in order"),
        (Some(params=[{"number": n} for n in range(21)]), "every n from 0 to 20"),
        ([0, 1, 4], "a Batch"),
    ],
    "batches.whole": [
        (batch(range(10, 16), [], failed=[Some(error="Error: not on a Friday")]), "not on a Friday"),
        (batch(range(10, 16), [1] * 6), "the square of its n"),
        (batch(range(10, 15), []), "every n from 10 to 15"),
        (batch(range(10, 16), [], done=False), "2 runs are missing"),
        ([100, 121], "a Batch"),
    ],
    "testing.negative": [
        ("cents >= 1", "define a test"),
        ("", "define a test"),
        (print, "the source of a test as a string"),
        (None, "None"),
        (TEMPLATE, "the source of a test as a string"),
    ],
    "testing.mended": [
        (None, "None"),
        (7, "the corrected source"),
        (["source"], "the corrected source"),
        ({"source": "x"}, "the corrected source"),
        (object(), "the corrected source"),
    ],
    "workshop.add": [
        (Some(name="ada"), "this learner is ada"),
        (Some(name="Edsger"), "this learner is Edsger"),
        ("edsger", "a learner"),
        (None, "None"),
        (["edsger"], "a learner"),
    ],
    "workshop.board": [
        (Some(as_dict=dict), "no one has solved"),
        (Some(as_dict=lambda: {"ada": {"cids.changes": {"right": True}}}), "ada has solved"),
        (Some(as_dict=lambda: {"grace": {"cids.changes": {"right": False}}}), "no one has solved"),
        (Some(as_dict=lambda: {"grace": {"cids.derive": {"right": True}}}), "no one has solved"),
        ("the board", "a board"),
    ],
}

PYTHON_INTERNALS: Final = ("AttributeError", "TypeError", "KeyError", "object at", "Traceback", "NoneType", "unpack")


def test_every_exercise_has_at_least_five_wrong_answers() -> None:
    assert sorted(WRONG) == sorted(EXERCISES)
    assert [name for name, wrong in WRONG.items() if len(wrong) < 5] == []


def answers(wrong: dict[str, Any]) -> pytest.MarkDecorator:
    """Runs a test for each wrong answer of a table."""
    return pytest.mark.parametrize(
        ("name", "answer", "hint"),
        [
            pytest.param(name, answer, hint, id=f"{name}-{number}")
            for name, several in wrong.items()
            for number, (answer, hint) in enumerate(several)
        ],
    )


@answers(WRONG)
def test_a_wrong_answer_gets_a_hint_about_its_mistake(name: str, answer: Any, hint: str) -> None:
    verdict = EXERCISES[name].check(answer)
    assert not verdict
    assert hint in verdict.words
    assert [internal for internal in PYTHON_INTERNALS if internal in verdict.words] == []


@pytest.mark.parametrize("name", sorted(name for name in EXERCISES if not name.startswith("testing.")))
def test_the_hint_for_another_type_describes_the_expected_answer(name: str) -> None:
    others: tuple[object, ...] = (
        None,
        "",
        "hello",
        42,
        -1,
        [],
        {"a": 1},
        object(),
        ValueError("no"),
        (),
        (1, 2),
        (None, 1),
        print,
        str,
    )
    for answer in others:
        verdict = EXERCISES[name].check(answer)
        assert not verdict
        assert not any(internal in verdict.words for internal in PYTHON_INTERNALS), verdict.words


def test_a_function_that_was_not_called_and_a_class_are_recognised() -> None:
    asked = EXERCISES["groups.least"].check
    called = "the answer is the function recover. Write parentheses after its name to call it."
    assert asked(svcnb.recover).words.startswith(called)
    assert asked(Forbidden).words.startswith("the answer is the class Forbidden. Expected: a pair")


def test_an_object_of_the_right_type_with_other_content_is_not_refused_for_its_type() -> None:
    asked = Exercise("a.b", "a Run, the result of runner.run(...)", "", lambda answer: str(vars(answer)["no"]))
    assert asked.check(run({})).words == (
        "the answer is a Run, but its content is wrong. Expected: a Run, the result of runner.run(...)."
    )


TESTS: Final = """@pytest.mark.parametrize("cents", [{values}])
def test_tips_are_refused(svc, cents):
    wallet = svc.wallets.create()
    with pytest.raises(svcnb.ActionError):
        svc.run(TIP_JAR, wallet=wallet.address, cents=cents)
"""
MENDED: Final = """async function main({{ wallet, cents }}) {{
  if ({refused}) throw new Error("at most 500 cents");
  const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({{ pkpId: wallet }}));
  return await signer.signMessage(`{text}`);
}}
"""
STRICT: Final = "!Number.isInteger(cents) || cents < 1 || cents > 500"
RECEIVED: Final = "received ${cents} cents"
PROGRAMS: Final = {
    "testing.negative": [
        (TESTS.format(values="600"), "the test passes with the faulty action"),
        (TESTS.format(values="-1, 100"), "also fails with an action that rejects negative tips"),
        (TESTS.format(values="-1").replace("TIP_JAR", "JAR"), "also fails with an action that rejects negative tips"),
        (TESTS.format(values="-1").replace("):", ")"), "check its syntax"),
        ("def test_nothing():\n    assert True\n", "the test passes with the faulty action"),
    ],
    "testing.mended": [
        (MENDED.format(refused="cents > 500", text=RECEIVED), "at least one of these amounts"),
        (MENDED.format(refused="cents < 1 || cents > 500", text=RECEIVED), "at least one of these amounts"),
        (MENDED.format(refused=STRICT.replace("> 500", ">= 500"), text=RECEIVED), "at least one of these amounts"),
        (MENDED.format(refused=STRICT, text="got ${cents} cents"), "at least one of these amounts"),
        ("function tip() {", "must sign 1 and 500"),
    ],
}


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
@answers(PROGRAMS)
def test_a_wrong_program_gets_a_hint_about_its_mistake(name: str, answer: str, hint: str) -> None:
    test_a_wrong_answer_gets_a_hint_about_its_mistake(name, answer, hint)


def test_three_dots_mean_that_there_is_no_answer() -> None:
    assert repr(check("primer.who", ...)) == (
        "Not yet: replace the three dots with your answer, then run this cell again."
    )


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("keys.who", keys.WHO),
        ("typed-data.changes", typed_data.CHANGES),
        ("convert-and-transfer.after", convert_and_transfer.AFTER),
        ("cids.changes", actions_and_cids.CHANGES),
    ],
)
def test_the_hint_for_one_missing_sentence_is_in_the_singular(name: str, sentences: dict[str, bool]) -> None:
    right = [text for text, belongs in sentences.items() if belongs]
    assert re.match(r"1 more \w+[^s] on the list (is|changes|still works)\b", check(name, right[1:]).words)
    assert re.match(r"\d more \w+s on the list (are|change|still work)\b", check(name, []).words)


def test_the_error_for_an_unknown_exercise_lists_the_exercises() -> None:
    with pytest.raises(LookupError, match=r"expected one of audit\.culprit"):
        check("primer.nothing", 1)


def test_the_exercise_has_the_same_template_as_the_lesson() -> None:
    assert TEMPLATE.cid == TEMPLATE_CID
    assert EXERCISES["cids.derive"].check(TEMPLATE.derive({"cents": 1200}, name="LIMIT"))
