"""Test that the linter finds no problem in the actions of this project."""

from __future__ import annotations

from pathlib import Path

from svcnb.toolkit.lint import lint
from svcnb.toolkit.plan import Description


def test_the_linter_has_no_findings() -> None:
    """Checks each action in ``account.toml``."""
    described = Description.load(Path(__file__).parent / "account.toml")
    for name in described.actions:
        assert list(lint(described.action(name))) == [], name
