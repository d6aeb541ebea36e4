"""External tools: search, a single download, and the check of hashes."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest

from svcnb import tools
from svcnb.protocol.nesting import parse
from svcnb.tools import fetch


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SVC_CACHE", str(tmp_path))
    monkeypatch.delenv("SVC_ANVIL", raising=False)
    return tmp_path


def test_deno_is_the_version_that_the_bundles_are_built_with() -> None:
    said = subprocess.run([tools.deno(), "--version"], capture_output=True, text=True, check=True, timeout=300)
    assert said.stdout.split()[1] == tools.DENO_VERSION


def test_the_versions_in_the_package_are_those_of_the_project_file(root: Path) -> None:
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    assert project.count(f'"deno=={tools.DENO_VERSION}"') == 4
    assert f"solc@{tools.SOLC_VERSION}" in tools.SOLC_LOCK.read_text(encoding="utf-8")
    for lock in tools.SOLC_LOCK.parent.glob("anvil-*.lock"):
        assert f"@{tools.ANVIL_VERSION}" in lock.read_text(encoding="utf-8")


PLATFORMS = ("linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "win32-amd64")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_node_of_every_platform_is_pinned_by_the_hash_of_its_archive(platform: str) -> None:
    locked = parse(fetch.anvil_lock(platform).read_text(encoding="utf-8"))["npm"]
    (name,) = locked
    assert name == f"@foundry-rs/anvil-{platform}@{tools.ANVIL_VERSION}"
    method, _, digest = locked[name]["integrity"].partition("-")
    assert (method, len(base64.b64decode(digest, validate=True))) == ("sha512", 64)


def test_a_platform_without_a_known_hash_is_refused_before_anything_is_downloaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("platform.machine", lambda: "ARM64")
    monkeypatch.setenv("SVC_DENO", str(cache / "no-deno"))
    with pytest.raises(tools.ToolMissing, match="there is no recorded hash") as caught:
        fetch.fetch_anvil(lambda _line: None)
    assert "SVC_ANVIL" in caught.value.hint


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.usefixtures("cache")
def test_deno_is_always_given_a_lock_and_never_its_own_cache_unchecked(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    """Deno compares an archive with the lock when it downloads the archive, but not an archive in its cache."""
    asked: list[str] = []

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        asked.extend(map(str, command))
        return subprocess.CompletedProcess(command, 1, "", "no network")

    monkeypatch.setattr(fetch, "platform_name", lambda: platform)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(tools.ToolMissing, match="no network"):
        fetch.fetch_anvil(lambda _line: None)
    assert {f"--lock={fetch.anvil_lock(platform)}", "--frozen"} <= set(asked)
    assert "--reload" in asked or platform in fetch.ANVIL_SHA256


def test_the_error_for_a_missing_tool_contains_the_command(cache: Path) -> None:
    with pytest.raises(tools.ToolMissing, match="svcnb fetch") as caught:
        tools.anvil()
    assert str(cache) in caught.value.detail


def test_a_wrong_path_in_the_environment_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_ANVIL", str(cache / "nothing"))
    with pytest.raises(tools.ToolMissing, match="SVC_ANVIL"):
        tools.anvil()


def test_a_file_with_another_hash_is_not_kept(tmp_path: Path, cache: Path) -> None:
    source = tmp_path / "download"
    source.write_bytes(b"something else")
    target = cache / "anvil"
    with pytest.raises(fetch.ToolCorrupt, match="expected hash is " + "0" * 64):
        fetch._place(source, target, "0" * 64)
    assert not target.exists()


def test_a_file_with_the_right_hash_can_be_started(tmp_path: Path, cache: Path) -> None:
    source = tmp_path / "download"
    source.write_bytes(b"#!/bin/sh\nexit 7\n")
    target = cache / "deep" / "program"
    # printf '#!/bin/sh\nexit 7\n' | sha256sum
    fetch._place(source, target, "4d8fe24768718d56bd8c282eb86ad8c8411b2d3d4f8cc99d84fc37f55f7d3780")
    assert subprocess.run([target], check=False, timeout=300).returncode == 7


def test_a_downloaded_tool_is_not_downloaded_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools.anvil_path().parent.mkdir(parents=True)
    tools.anvil_path().write_bytes(b"the node")
    monkeypatch.setattr(fetch, "ANVIL_SHA256", {fetch.platform_name(): hashlib.sha256(b"the node").hexdigest()})
    monkeypatch.setenv("SVC_DENO", str(cache / "no-deno"))  # with this setting, a download fails
    said: list[str] = []
    assert fetch.fetch_anvil(said.append) == tools.anvil_path()
    assert "is already installed" in said[0]
    tools.anvil_path().write_bytes(b"something else")
    with pytest.raises(tools.ToolMissing):
        fetch.fetch_anvil(said.append)
    assert "will be replaced" in said[1]


def test_no_secret_of_the_caller_reaches_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_API_KEY", "a-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    assert "a-secret" not in tools.deno_environment().values()


def test_the_error_for_an_unsupported_machine_names_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "mips")
    with pytest.raises(tools.ToolMissing, match="--chain-rpc"):
        fetch.platform_name()
