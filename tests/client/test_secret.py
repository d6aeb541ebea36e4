from __future__ import annotations

import copy
import json
import pickle

import pytest
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from svcnb.client.models.accounts import Account
from svcnb.client.models.billing import Payment
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.secret import MASK, Secret

MARK = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


def test_a_secret_is_masked_in_every_display() -> None:
    secret = Secret(MARK)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>60}", f"{secret!s}", secret._repr_html_()]
    assert all(MASK in text and MARK not in text for text in shown)


def test_only_reveal_returns_the_text() -> None:
    assert Secret(MARK).reveal() == MARK


def test_secrets_are_equal_by_their_text() -> None:
    assert Secret(MARK) == Secret(MARK)
    assert Secret(MARK) == MARK
    assert Secret(MARK) != Secret("other")
    assert Secret(MARK) != 5
    assert len({Secret(MARK), Secret(MARK)}) == 1


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="reveal"):
        pickle.dumps(Secret(MARK))


def test_a_secret_is_copied_as_itself() -> None:
    secret = Secret(MARK)
    assert copy.deepcopy(secret) is secret
    assert copy.copy(secret) is secret


def test_a_secret_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Secret(MARK)._value = "other"


def test_a_secret_must_be_a_string() -> None:
    with pytest.raises(TypeError, match="int"):
        Secret(5)  # type: ignore[arg-type]


def test_json_refuses_a_secret_rather_than_losing_it() -> None:
    with pytest.raises(TypeError):
        json.dumps(Secret(MARK))
    with pytest.raises(PydanticSerializationError, match="reveal"):
        TypeAdapter(Secret).dump_json(Secret(MARK))


@pytest.mark.parametrize(
    "model",
    [
        Account(wallet_address="0x" + "1" * 40, api_key=MARK, name="a"),
        UsageKey(api_key_hash="0x" + "2" * 64, name="k", usage_api_key=MARK),
        Payment(amount_cents=500, payment_intent_id="pi_1", client_secret=MARK),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_never_show_their_secrets(model) -> None:
    shown = [repr(model), str(model), model._repr_html_(), repr(model.model_dump()), repr(model.shown())]
    assert not [text for text in shown if MARK in text]
    with pytest.raises(PydanticSerializationError, match="reveal"):
        model.model_dump_json()
    with pytest.raises(TypeError, match="reveal"):
        pickle.dumps(model)
