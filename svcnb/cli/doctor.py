"""``svcnb doctor``: what is here, what is not, and what to do about it."""

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

from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show
from svcnb.exit_codes import ExitCode
from svcnb.extras import install_command

# A busy machine needs its time for what an idle one does at once.
ANSWER_TIMEOUT_S = 60.0
PACKAGES = {
    "client": ("click", "httpx", "multiformats", "pycryptodome", "pydantic"),
    "emulator": ("httptools", "starlette", "uvicorn"),
    "chain": ("eth-account",),
    "lab": ("altair", "anywidget", "ipywidgets", "jupyterlab", "pandas"),
}
# Without these the emulator still runs.
OPTIONAL = {"chain", "lab", "strict types"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    seen: str
    fix: str = ""


@click.command("doctor", epilog=examples("svcnb doctor", "svcnb doctor --live https://api.example.org"))
@click.option("--live", metavar="URL", help="Compare this service's description of itself with what is spoken here.")
@output_options
@click.pass_context
def command(ctx: click.Context, live: str | None, as_json: bool) -> None:
    """Check versions, parts, ports and the service.

    Ends with 3 if something is missing that the emulator needs, with 6 if SVC_BASE_URL is set and nothing answers
    there. With --live it looks at that service alone, its clock included, and ends with 1 if a call would fail.
    Changes nothing and sends no key.
    """
    if live is not None:
        ctx.exit(_compare(live, as_json=as_json))
    findings = list(examine())
    if as_json:
        show([asdict(finding) for finding in findings], as_json=True)
    else:
        for finding in findings:
            click.echo(f"{'ok  ' if finding.good else 'MISS'}  {finding.what:<18} {finding.seen}")
            if finding.fix and not finding.good:
                click.echo(f"{'':24} {finding.fix}")
    bad = {finding.what for finding in findings if not finding.good} - OPTIONAL
    if "service" in bad:
        ctx.exit(ExitCode.UNREACHABLE)
    if bad:
        ctx.exit(ExitCode.PART_MISSING)


def _compare(url: str, *, as_json: bool) -> ExitCode:
    from svcnb.client import Client
    from svcnb.toolkit.drift import live_drift, recorded_drift

    with Client(url) as service:
        found = [*live_drift(service.with_key(None)), *recorded_drift(url, service.vocabulary)]
    if as_json:
        show(list(found), as_json=True)
    else:
        for each in found:
            click.echo(str(each))
        breaks = sum(each.weight == "breaks" for each in found)
        click.echo(f"{breaks} differences break calls, {len(found) - breaks} others.")
    return ExitCode.FAILED if any(each.weight == "breaks" for each in found) else ExitCode.OK


def examine() -> Iterator[Finding]:
    """Everything worth knowing, in the order in which it matters."""
    yield Finding("python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.platform()}")
    for extra, packages in PACKAGES.items():
        yield _packages(extra, packages)
    yield _curve()
    yield _deno()
    yield _anvil()
    yield _bundles()
    yield _loopback()
    yield _cache()
    if base_url := os.environ.get("SVC_BASE_URL"):
        yield _service(base_url)
        yield from _forgiven(base_url)


def _forgiven(base_url: str) -> Iterator[Finding]:
    """What an emulator accepted and the live service would refuse; nothing for other services."""
    from svcnb.client.errors import SvcnbError
    from svcnb.control import EmulatorControl

    try:
        found = EmulatorControl(base_url).state()["forgiven"]
    except (SvcnbError, KeyError):
        return
    if not found:
        yield Finding("strict types", good=True, seen="no request that the live service would refuse")
    for each in found:
        yield Finding(
            "strict types",
            good=False,
            seen=f"{each['method']} {each['path']}: {each['form']}, {each['times']} times",
            fix="The live service refuses this. Correct the client; svcnb emulator --preset strict refuses it, too.",
        )


def _packages(extra: str, names: tuple[str, ...]) -> Finding:
    seen, missing = [], []
    for name in names:
        try:
            seen.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding(extra, good=False, seen=f"without {', '.join(missing)}", fix=f"Run: {install_command(extra)}")
    return Finding(extra, good=True, seen=", ".join(seen))


def _curve() -> Finding:
    from svcnb.protocol.curve import SlowSignatures, library

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlowSignatures)  # the line shows it
            name = library().name
    except ImportError as error:
        fix = str(error).replace("signatures need", "Run")
        return Finding("signatures", good=False, seen="no library for secp256k1", fix=fix)
    return Finding("signatures", good=True, seen=f"{name} {version(name)}")


def _deno() -> Finding:
    from svcnb import tools

    try:
        binary = tools.deno()
    except tools.PartMissing as missing:
        return Finding("deno", good=False, seen=missing.detail, fix=missing.hint)
    said = _said(binary, "--version")
    if said.split()[1:2] != [tools.DENO_VERSION]:
        return Finding("deno", good=False, seen=said, fix=f"Run: pip install deno=={tools.DENO_VERSION}")
    return Finding("deno", good=True, seen=f"{tools.DENO_VERSION} at {binary}")


def _anvil() -> Finding:
    from svcnb import tools

    try:
        binary = tools.anvil()
    except tools.PartMissing as missing:
        return Finding("anvil", good=False, seen=missing.detail, fix=missing.hint)
    return Finding("anvil", good=True, seen=f"{_said(binary, '--version')} at {binary}")


def _bundles() -> Finding:
    from hashlib import sha256

    from svcnb import tools
    from svcnb.protocol.nesting import parse

    package = Path(tools.__file__).resolve().parents[1]
    manifest = package / "tools" / "static" / "bundles.json"
    fix = "Run in the working copy: python hatch_build.py"
    if not manifest.is_file():
        return Finding("bundles", good=False, seen=f"no {manifest}", fix=fix)
    files = parse(manifest.read_text(encoding="utf-8"))["files"]
    missing = [name for name in files if not (package.parent / name).is_file()]
    if missing:
        return Finding("bundles", good=False, seen=f"without {', '.join(missing)}", fix=fix)
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
        return Finding("loopback", good=False, seen=str(error), fix="The emulator needs a free port on 127.0.0.1.")
    return Finding("loopback", good=True, seen="a free port on 127.0.0.1")


def _cache() -> Finding:
    from svcnb import tools

    folder = tools.cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    good = os.access(existing, os.W_OK)
    return Finding("cache", good=good, seen=str(folder), fix="Set SVC_CACHE to a folder that you may write.")


def _service(base_url: str) -> Finding:
    import httpx

    url = f"{base_url.rstrip('/')}/core/v1/get_node_chain_config"
    try:
        answer = httpx.get(url, timeout=ANSWER_TIMEOUT_S)
        config = answer.raise_for_status().json()
        seen = f"chain {config['chain_id']}, contract {config['contract_address']}"
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return Finding("service", good=False, seen=f"{base_url}: {error}", fix="Check SVC_BASE_URL, or unset it.")
    return Finding("service", good=True, seen=f"{base_url}: {seen}")


def _said(binary: Path, argument: str) -> str:
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
