"""What a reader hears who answers an exercise with something else than it asks for."""

from __future__ import annotations

from typing import Final

import pytest

from svcnb.toolkit.exercises import EXERCISES, check

ANSWERS: Final[tuple[object, ...]] = (None, "", "hello", 42, -1, [], {"a": 1}, object(), ValueError("no"))


# The exercises on testing run what they are given, which their lesson does.
@pytest.mark.parametrize("name", sorted(name for name in EXERCISES if not name.startswith("testing.")))
def test_no_wrong_answer_raises_and_each_gets_a_hint(name: str) -> None:
    for answer in (..., *ANSWERS):
        verdict = EXERCISES[name].check(answer)
        assert verdict.right or verdict.words.strip()
        assert "Traceback" not in verdict.words


def test_an_answer_of_another_kind_is_told_so_in_words() -> None:
    verdict = check("quickstart.length", {"a": 1})
    assert not verdict
    assert verdict.words.startswith("the task asks for something else than a dict like this one")
    assert "Not yet:</b> the task asks" in verdict._repr_html_()
