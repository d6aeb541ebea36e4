"""Errors in the form that panels display."""

from __future__ import annotations

import pytest

import svcnb
from svcnb.client.errors import EXECUTION_HINT, EXPIRED_HINT
from svcnb.panels.wire import failure


@pytest.mark.parametrize(
    ("hint", "fix"),
    [(EXECUTION_HINT, "in the same group"), (EXPIRED_HINT, "has expired"), (None, "only the owner's wallet")],
)
def test_the_fix_of_a_403_fits_its_cause(hint: str | None, fix: str) -> None:
    told = failure(svcnb.Forbidden("Permission denied", status=403, hint=hint))
    assert fix in told["hint"]
    assert "svc." not in told["hint"]  # a person who uses the mouse writes no Python
