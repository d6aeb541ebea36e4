"""Layers of the package, which determine the allowed imports.

`python -m tests.repository.layers` updates the diagram in CONTRIBUTING.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Layers of packages with their descriptions, the lowest layer last. A package imports only the layers below its own.
# `svcnb` itself contains the public names, and imports them on first use.
PACKAGES: list[tuple[str, set[str]]] = [
    ("program", {"__main__"}),
    ("entry points", {"cli", "pytest_plugin"}),
    ("user interface", {"magics", "panels", "reports", "testing", "workshop"}),
    ("features", {"lite", "toolkit"}),
    ("lessons", {"lessons"}),
    ("launcher", {"launch", "live_lessons"}),
    ("emulator and control plane", {"charts", "control", "emulator"}),
    ("client", {"client", "page_storage"}),
    ("transport", {"control_tokens", "in_process"}),
    ("rules and formats", {"checked", "migrations", "protocol", "tools"}),
    ("errors", {"errors"}),
    (
        "texts and helpers",
        {"brief", "bundles", "emulator_settings", "exit_codes", "extras", "files", "logs", "renamed", "supervised"},
    ),
]
# Client and emulator communicate only over HTTP. Only the command that runs the emulator imports it, and the browser
# page, which cannot start processes. The modules of `lite` become a part of that page.
IMPORTERS_OF_THE_EMULATOR = ("svcnb.cli.emulator", "svcnb.cli._serve", "svcnb.launch", "svcnb.lite.")
# Files of the projects that recipes become. They use svcnb like its users.
PROJECTS = ("svcnb.toolkit.cookbook.recipes.", "svcnb.toolkit.cookbook.project.")

# Packages inside the emulator. Components import no area. An area uses another area only through components that it
# receives as arguments.
COMPONENTS = {"errors", "platform", "settings"}
EMULATOR: dict[str, set[str]] = {
    "errors": set(),
    "platform": {"errors"},
    "settings": {"platform"},
    "http": COMPONENTS,
    "keys": {"errors", "platform"},
    "chain": COMPONENTS | {"keys"},
    "sandbox": {"keys", "platform", "settings"},
    "access": COMPONENTS | {"chain", "http"},
    "billing": COMPONENTS | {"access", "chain", "http", "keys"},
    "accounts": COMPONENTS | {"access", "billing", "chain", "http", "keys", "sandbox"},
    "actions": COMPONENTS | {"access", "billing", "http", "keys", "sandbox"},
    "triggers": COMPONENTS | {"http", "keys"},
    "control": COMPONENTS | {"actions", "billing", "chain", "http", "sandbox", "triggers"},
    "bootstrap": {"chain", "keys", "platform", "settings"},
    "service": COMPONENTS
    | {"access", "accounts", "actions", "billing", "bootstrap", "chain", "control", "keys", "sandbox", "triggers"},
    "areas": {"accounts", "actions", "billing", "control", "http", "service", "triggers"},
    "main": {"areas", "bootstrap", "http", "platform", "sandbox", "service", "settings"},
    "in_page": {"errors", "main", "service", "settings"},
}

# Layers inside the client, the lowest layer first. A module imports its own layer and those below.
CLIENT: list[set[str]] = [
    {"errors", "in_page", "secret"},
    # Arguments and results of the public functions, without requests.
    {"action_failure", "config", "diagnosis", "display", "explanation_graph", "frames", "listing", "models"}
    | {"permission_snapshot", "progress", "record_schema", "references"},
    # A single request.
    {"_http", "calls", "raw_response", "request", "session", "signing", "tracing"},
    {"call_refusal", "explain", "resources"},
    {"chain"},
    {"chain_secured"},
    {"batch", "batch_file", "batch_work", "recorder", "remote", "running"},
    {"aio", "async_client", "client", "client_settings", "key_check", "triggers"},
]
# Imports on first use: the explanation of a rejected call, and an account that becomes ChainSecured.
UPWARDS = {("svcnb.client.request", "call_refusal"), ("svcnb.client.resources.accounts", "chain_secured")}


def drawing() -> str:
    """Returns a text diagram of the layers of packages."""
    width = max(len(what) for what, _ in PACKAGES) + 2
    lines = []
    for what, packages in PACKAGES:
        names = "  ".join(f"{name}/" if (ROOT / "svcnb" / name).is_dir() else f"{name}.py" for name in sorted(packages))
        first, *more = textwrap.wrap(names, 100 - width, break_long_words=False)
        lines += [f"{what:{width}}{first}", *(" " * width + line for line in more)]
    return "\n".join(lines)


def with_drawing(text: str) -> str:
    """Returns the text of CONTRIBUTING with the current diagram."""
    start = text.index("```\n", text.index("## Package structure")) + len("```\n")
    return text[:start] + drawing() + "\n" + text[text.index("```", start) :]


if __name__ == "__main__":
    page = ROOT / "CONTRIBUTING.md"
    page.write_text(with_drawing(page.read_text(encoding="utf-8")), encoding="utf-8")
