"""Files for Kubernetes: they are valid for the chart, and have the expected effect in this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml

from svcnb.cli.workshop import command
from svcnb.workshop import Workshop

FOLDER = Path(__file__).resolve().parents[2] / "docs/workshop"
VALUES: dict[str, Any] = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
SERVER: list[dict[str, Any]] = list(yaml.safe_load_all((FOLDER / "workshop.yaml").read_text(encoding="utf-8")))
CONTAINER: dict[str, Any] = next(each for each in SERVER if each["kind"] == "Deployment")["spec"]["template"]["spec"][
    "containers"
][0]
TOKEN = "a token from the cluster's secret"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    """Server of the workshop, with the address and the token of the hub's configuration."""
    with Workshop(hosts_emulators=False) as room:
        server = room.serve(instructor_token=TOKEN)
        monkeypatch.setenv("SVC_INSTRUCTOR_URL", server.url)
        monkeypatch.setenv("SVC_INSTRUCTOR_TOKEN", TOKEN)
        monkeypatch.setenv("SVC_HUB_PASSWORD", "a password")
        yield room


def test_the_hubs_configuration_sets_a_learners_environment(cluster: Workshop) -> None:
    settings = SimpleNamespace(Spawner=SimpleNamespace(), SharedPasswordAuthenticator=SimpleNamespace())
    exec(VALUES["hub"]["extraConfig"]["workshop"], {"c": settings})  # noqa: S102 - as the chart does
    spawner = SimpleNamespace(user=SimpleNamespace(name="ada"), environment={})
    settings.Spawner.pre_spawn_hook(spawner)
    assert spawner.environment == cluster.environment("ada")
    assert set(spawner.environment) == {"SVC_WORKSHOP_URL", "SVC_WORKSHOP_TOKEN"}
    assert settings.SharedPasswordAuthenticator.user_password == "a password"
    # The chart sets this option from singleuser.defaultUrl before it loads this configuration.
    assert not hasattr(settings.Spawner, "default_url")


def test_the_learners_volume_hides_nothing_and_gets_the_lessons(tmp_path: Path) -> None:
    mounted = VALUES["singleuser"]["storage"]["homeMountPath"]
    assert mounted == "/home/jovyan/lessons"
    program, option, source = VALUES["singleuser"]["lifecycleHooks"]["postStart"]["exec"]["command"]
    assert (program, option) == ("python", "-c")
    done = [sys.executable, option, source.replace(mounted, str(tmp_path / "lessons"))]
    subprocess.run(done, check=True, timeout=120)
    opened = VALUES["singleuser"]["defaultUrl"].removeprefix("/lab/tree/")
    assert (tmp_path / opened).is_file()
    assert not (tmp_path / "lessons/solutions").exists()


def test_the_server_is_started_with_options_that_exist_where_the_hub_looks_for_it() -> None:
    program, group, name = CONTAINER["command"]
    assert (program, group) == ("svcnb", "workshop")
    start = command.get_command(SimpleNamespace(), name)  # type: ignore[arg-type]
    assert start is not None
    # click stores the help options when it first parses a command, so pass those of the whole command line.
    given = start.make_context(name, list(CONTAINER["args"]), help_option_names=["-h", "--help"]).params
    assert given["url"] == VALUES["hub"]["extraEnv"]["SVC_INSTRUCTOR_URL"]
    service = next(each for each in SERVER if each["kind"] == "Service")
    assert given["url"] == f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    assert given["port"] == CONTAINER["ports"][0]["containerPort"] == CONTAINER["readinessProbe"]["httpGet"]["port"]
    hub = VALUES["hub"]["extraEnv"]
    sources = [CONTAINER["env"][0], hub["SVC_INSTRUCTOR_TOKEN"], hub["SVC_HUB_PASSWORD"]]
    secrets = {each["valueFrom"]["secretKeyRef"]["key"] for each in sources}
    assert secrets == {"token", "password"}


def test_the_probe_finds_a_server_with_a_chosen_token(cluster: Workshop) -> None:
    assert cluster.server is not None
    url, path = cluster.server.url, CONTAINER["readinessProbe"]["httpGet"]["path"]
    with httpx.Client(trust_env=False) as http:
        assert http.get(f"{url}{path}").status_code == 200
        assert http.get(f"{url}/progress", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.skipif("SVC_CHART" not in os.environ, reason="needs the JupyterHub chart (SVC_CHART)")
def test_the_values_are_valid_for_the_chart() -> None:
    """Checks the chart's defaults with these values, merged as Helm merges values, against the chart's schema."""
    jsonschema = pytest.importorskip("jsonschema")
    chart = Path(os.environ["SVC_CHART"])
    read = {
        name: yaml.safe_load((chart / name).read_text(encoding="utf-8"))
        for name in ("values.yaml", "values.schema.yaml")
    }
    found = jsonschema.Draft7Validator(read["values.schema.yaml"]).iter_errors(_above(read["values.yaml"], VALUES))
    assert [(list(each.path), each.message) for each in found] == []


def _above(default: Any, value: Any) -> Any:
    if isinstance(default, dict) and isinstance(value, dict):
        return default | {name: _above(default.get(name), each) for name, each in value.items()}
    return value
