"""Accessibility checker axe-core from npm, in the version of the widgets' lock file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

AXE = Path(__file__).parents[2] / "widgets/node_modules/axe-core/axe.min.js"


def faults(tab: Any, where: str = ".svcnb-panel", rules: tuple[str, ...] = ()) -> list[str]:
    """Returns the serious and critical faults of the visible panels, in the form ``rule: element``.

    Args:
        tab: The page.
        where: Selector of the elements to check.
        rules: Names of the rules to check. Empty means all rules.
    """
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(AXE.read_text(encoding="utf-8"))
    found = tab.evaluate(
        """async ([where, rules]) => {
          const panels = [...document.querySelectorAll(where)].filter((panel) => panel.checkVisibility());
          const {violations} = await axe.run(panels, {
            resultTypes: ["violations"], ...(rules.length ? {runOnly: rules} : {}),
          });
          return violations.filter(({impact}) => ["serious", "critical"].includes(impact))
            .flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 160)}`));
        }""",
        [where, rules],
    )
    return [str(text) for text in found]
