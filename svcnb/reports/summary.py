"""Summary of a report, as Markdown for chats and job logs, and as JSON for webhooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from svcnb.reports.runner import Report, ReportFailed

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~$])")


@dataclass(frozen=True)
class Summary:
    """Result of a report, or the reason why the report failed.

    Attributes:
        report: Name of the report.
        status: ``ok``, ``attention`` if the report found a problem, or ``failed``.
        exit_code: The exit code of `svcnb report`.
        attention: Problems, or the reason why the report failed.
        also: Additional facts.
        facts: Values of the header, such as account, service and period.
        not_visible: Data that the report could not read, one sentence for each kind.
        files: Paths of the files, with their kinds ``html``, ``notebook`` and ``pdf`` as keys.
    """

    report: str
    status: Literal["ok", "attention", "failed"]
    exit_code: int
    attention: Sequence[str] = ()
    also: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    not_visible: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, made: Report | ReportFailed | Exception, name: str, exit_code: int) -> Summary:
        """Returns the summary of a completed report, or of the error that made a report fail."""
        if isinstance(made, Report):
            files = {"html": str(made.html), "notebook": str(made.notebook)}
            return cls(
                report=name,
                status="attention" if made.attention else "ok",
                exit_code=exit_code,
                attention=made.conclusion.attention,
                also=made.conclusion.also,
                facts=made.facts,
                not_visible=made.not_visible,
                files=files | ({"pdf": str(made.pdf)} if made.pdf else {}),
            )
        files = {"html": str(made.html), "notebook": str(made.notebook)} if isinstance(made, ReportFailed) else {}
        texts = [text for text in (getattr(made, "message", str(made)), getattr(made, "hint", None)) if text]
        return cls(name, "failed", exit_code, attention=texts, files=files)

    def json(self) -> dict[str, Any]:
        """Returns the summary as a dictionary for JSON. The field ``text`` contains the Markdown text for chats."""
        return {
            "report": self.report,
            "status": self.status,
            "exit_code": self.exit_code,
            "attention": list(self.attention),
            "also": list(self.also),
            "facts": dict(self.facts),
            "not_visible": list(self.not_visible),
            **self.files,
            "text": self.markdown(),
        }

    def markdown(self) -> str:
        """Returns the summary as Markdown."""
        heading = {"ok": "no problems found", "attention": "needs attention", "failed": "failed"}[self.status]
        lines = [f"## {_plain(self.report)}: {heading}", ""]
        lines += [f"- **{_plain(each)}**" for each in self.attention]
        lines += [f"- {_plain(each)}" for each in self.also]
        facts = [f"{name}: {_plain(value)}" for name, value in self.facts.items()]
        files = [f"{kind}: `{path}`" for kind, path in self.files.items()]
        unseen = [f"- Not visible: {_plain(each)}" for each in self.not_visible]
        return "\n".join([*lines, *unseen, "", *(f"{each}  " for each in (*facts, *files))]).strip() + "\n"


def _plain(text: str) -> str:
    """Returns a string on one line, escaped for Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
