"""Command ``svcnb doctor``, which checks the installation and shows how to fix problems."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

from svcnb.cli._output import examples, output_options, quiet, show
from svcnb.cli._service import base_url_option, profile_option
from svcnb.exit_codes import ExitCode
from svcnb.extras import install_command

# Calls that return immediately on an idle machine can take seconds on a busy machine.
ANSWER_TIMEOUT_S = 60.0
_CORE = "client"
"""Label of the packages that every installation includes. These packages do not belong to an extra."""
PACKAGES = {
    _CORE: ("click", "httpx", "multiformats", "pydantic"),
    "crypto": ("pycryptodome",),
    "emulator": ("httptools", "starlette", "uvicorn"),
    "chain": ("eth-account",),
    "lab": ("altair", "anywidget", "ipywidgets", "jupyterlab", "pandas"),
}
_ADDRESS = "Check the address in --base-url, the profile, SVC_BASE_URL or the configuration file."
# Failures of these checks do not change the exit code, because the emulator still runs.
OPTIONAL = {"chain", "lab", "strict types"}


@dataclass(frozen=True)
class Finding:
    """Result of one check.

    Attributes:
        what: Name of the check.
        good: Whether the check found no problem.
        seen: Versions, paths or the problem that the check found.
        fix: How to fix the problem, if the check found one.
    """

    what: str
    good: bool
    seen: str
    fix: str = ""


@click.command("doctor", epilog=examples("svcnb doctor", "svcnb doctor --live https://api.example.org"))
@click.option(
    "--live", metavar="URL", help=("Compare the OpenAPI description of this service with this version of svcnb.")
)
@base_url_option
@profile_option
@output_options
@click.pass_context
def command(ctx: click.Context, live: str | None, base_url: str | None, as_json: bool) -> None:
    """Check versions, external tools, ports and the service.

    The command checks the service that --base-url, --profile, SVC_BASE_URL or the configuration file selects. The exit
    code is 2 if the configuration is wrong, 3 if a requirement of the emulator is missing, and 6 if the service does
    not respond. With --live, the command only compares the given service with svcnb: the OpenAPI description, the
    clocks, and the responses to a few requests. The exit code is then 1 if a difference breaks calls of svcnb. With
    --quiet, the command prints only the names of failed checks. The command does not change anything and does not
    send a key.
    """
    if live is not None:
        ctx.exit(_compare(live, as_json=as_json))
    findings = list(examine(base_url))
    shown = [finding for finding in findings if not (quiet() and finding.good)]
    show([asdict(finding) for finding in shown], as_json=as_json, text="\n".join(map(_lines, shown)))
    bad = {finding.what for finding in findings if not finding.good} - OPTIONAL
    for what, code in (("configuration", ExitCode.USAGE), ("service", ExitCode.UNREACHABLE)):
        if what in bad:
            ctx.exit(code)
    if bad:
        ctx.exit(ExitCode.TOOL_MISSING)


def _lines(finding: Finding) -> str:
    line = f"{'ok  ' if finding.good else 'FAIL'}  {finding.what:<18} {finding.seen}"
    return line if finding.good or not finding.fix else f"{line}\n{'':24} {finding.fix}"


def _compare(url: str, *, as_json: bool) -> ExitCode:
    from svcnb.client import Client
    from svcnb.toolkit.drift import Drift, live_drift, recorded_drift

    with Client(url) as service:
        found = [*live_drift(service.with_key(None)), *recorded_drift(url, service.vocabulary)]
    breaks = sum(each.severity == "breaks" for each in found)
    told = [*map(str, found), f"Differences that break calls: {breaks}. Other differences: {len(found) - breaks}."]
    show(list(found), as_json=as_json, columns=list(Drift.model_fields), text="\n".join(told))
    return ExitCode.FAILED if breaks else ExitCode.OK


def examine(base_url: str | None = None) -> Iterator[Finding]:
    """Yields the results of all checks, most important first. Without an address, checks the configured service."""
    yield Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform()}")
    for extra, packages in PACKAGES.items():
        yield _packages(extra, packages)
    yield _curve()
    yield from _external_tools()
    yield _bundles()
    yield _loopback()
    yield _cache()
    yield from _configured(base_url)


def _configured(base_url: str | None) -> Iterator[Finding]:
    """Yields the checks of the service that commands use, if a service is configured."""
    from svcnb.client import config
    from svcnb.client.errors import ConfigError

    try:
        address = config.address() if base_url is None else config.clean_url(base_url, "base_url")
    except ConfigError as error:
        yield Finding("configuration", good=False, seen=error.message, fix=error.hint or "")
        return
    if address is not None:
        address = address.removesuffix(config.API_PATH)
        yield _service(address)
        yield from _tolerated(address)


def _tolerated(base_url: str) -> Iterator[Finding]:
    """Yields a finding for each kind of request that an emulator accepted but the live service would reject.

    If the emulator accepted no such request, the function yields one finding without a problem. If the service is not
    an emulator that this user can control, the function does not yield anything.
    """
    from svcnb.client.errors import SvcnbError
    from svcnb.control import EmulatorControl

    try:
        found = EmulatorControl(base_url).state()["tolerated_requests"]
    except (SvcnbError, KeyError):
        return
    if not found:
        yield Finding("strict types", good=True, seen="no requests that the live service rejects")
    for each in found:
        yield Finding(
            "strict types",
            good=False,
            seen=f"{each['method']} {each['path']}: {each['form']}, {each['times']} "
            f"time{'' if each['times'] == 1 else 's'}",
            fix=(
                "Correct the client: the live service rejects these requests. To test the client, run `svcnb emulator "
                "--preset strict`, which also rejects them."
            ),
        )


def _packages(extra: str, names: tuple[str, ...]) -> Finding:
    seen, missing = [], []
    for name in names:
        try:
            seen.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        command = "pip install svcnb" if extra == _CORE else install_command(extra)
        return Finding(extra, good=False, seen=f"not installed: {', '.join(missing)}", fix=f"Run: {command}")
    return Finding(extra, good=True, seen=", ".join(seen))


def _curve() -> Finding:
    from svcnb.protocol.curve import SlowSignatures, library

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlowSignatures)  # the output already shows the name of the library
            name = library().name
    except ImportError:
        fix = f"Run: {install_command('curve')}"
        return Finding("signatures", good=False, seen="no secp256k1 library is installed", fix=fix)
    return Finding("signatures", good=True, seen=f"{name} {version(name)}")


def _external_tools() -> Iterator[Finding]:
    from svcnb import tools

    for name, find in (("deno", tools.deno), ("anvil", tools.anvil)):
        try:
            binary = find()
        except tools.ToolMissing as missing:
            yield Finding(name, good=False, seen=missing.detail, fix=missing.hint)
            continue
        said = _output_of(binary, "--version")
        if name == "deno":
            if said.split()[1:2] != [tools.DENO_VERSION]:
                yield Finding(name, good=False, seen=said, fix=f"Run: pip install deno=={tools.DENO_VERSION}")
                continue
            said = tools.DENO_VERSION
        yield Finding(name, good=True, seen=f"{said} at {binary}")


def _bundles() -> Finding:
    from hashlib import sha256

    from svcnb import tools
    from svcnb.protocol.nesting import parse

    package = Path(tools.__file__).resolve().parents[1]
    manifest = package / "tools" / "static" / "bundles.json"
    fix = "Install svcnb again. In a working copy of the repository, run: python hatch_build.py"
    if not manifest.is_file():
        return Finding("bundles", good=False, seen=f"missing file: {manifest}", fix=fix)
    files = parse(manifest.read_text(encoding="utf-8"))["files"]
    missing = [name for name in files if not (package.parent / name).is_file()]
    if missing:
        return Finding("bundles", good=False, seen=f"missing files: {', '.join(missing)}", fix=fix)
    changed = [
        name for name, known in files.items() if sha256((package.parent / name).read_bytes()).hexdigest() != known
    ]
    if changed:
        return Finding("bundles", good=False, seen=f"changed since the build: {', '.join(changed)}", fix=fix)
    return Finding("bundles", good=True, seen=f"{len(files)} files, unchanged since the build")


def _loopback() -> Finding:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            probe.listen(1)
    except OSError as error:
        return Finding(
            "loopback",
            good=False,
            seen=str(error),
            fix="Permit programs to listen on 127.0.0.1. If all ports are in use, stop a program that uses a port.",
        )
    return Finding("loopback", good=True, seen="a free port on 127.0.0.1")


def _cache() -> Finding:
    from svcnb import tools

    folder = tools.cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    good = os.access(existing, os.W_OK)
    return Finding("cache", good=good, seen=str(folder), fix="Set SVC_CACHE to a writable folder.")


def _service(base_url: str) -> Finding:
    import httpx

    url = f"{base_url.rstrip('/')}/core/v1/get_node_chain_config"
    try:
        answer = httpx.get(url, timeout=ANSWER_TIMEOUT_S)
        config = answer.raise_for_status().json()
        seen = f"chain {config['chain_id']}, contract {config['contract_address']}"
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return Finding("service", good=False, seen=f"{base_url}: {error}", fix=_ADDRESS)
    return Finding("service", good=True, seen=f"{base_url}: {seen}")


def _output_of(binary: Path, argument: str) -> str:
    try:
        done = subprocess.run(
            [binary, argument],
            capture_output=True,
            text=True,
            timeout=ANSWER_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be started: {error}"
    return (done.stdout or done.stderr).partition("\n")[0].strip()
