"""The linter in the page, whose parser is another build of the same library, has the same findings as installed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from svcnb.toolkit.lint import lint
from tests.emulator.sandbox.conftest import read_programs
from tests.toolkit.test_lint import CLEAN, ERRORS, VULNERABLE, WARNINGS

pytestmark = pytest.mark.browser

PLAIN = [*ERRORS, *WARNINGS, *VULNERABLE, *CLEAN, *(program.source for program in read_programs()[::6])]
# UTF-8 and JavaScript count the characters before a finding differently.
SOURCES = [*PLAIN, *(f"const größe = '🙂'; {source}" for source in PLAIN[:80])]
IN_PAGE = """
import json
import svcnb
from svcnb.toolkit.lint import lint
print(json.dumps([[finding.model_dump() for finding in lint(source)] for source in json.loads({sources!r})]))
"""


def test_the_linter_finds_in_the_page_what_an_installed_one_finds(lab: Any):
    found = json.loads(lab().run(IN_PAGE.format(sources=json.dumps(SOURCES))))
    here = [[finding.model_dump() for finding in lint(source)] for source in SOURCES]
    assert sum(map(len, here)) > 100
    differences = [
        (source, there, own) for source, there, own in zip(SOURCES, found, here, strict=True) if there != own
    ]
    assert differences == []
