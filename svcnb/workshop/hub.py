"""JupyterHub configuration for workshops. Each learner who logs in receives the lessons and an emulator.

In ``jupyterhub_config.py``::

    from svcnb.workshop.hub import configure
    configure(get_config(), folder="workshop", lessons="lessons")

When the hub starts a notebook server, the hub requests the learner's environment variables from the workshop's server.
The workshop's server adds new learners to the roster. A spawner is the part of JupyterHub that starts notebook servers.
This configuration supports every spawner. To run notebook servers in containers, configure a spawner for containers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from svcnb.control.plane import ControlPlane
from svcnb.protocol.nesting import parse

SERVER_FILE: Final = "server.json"
"""Name of the file in the workshop's folder that contains the server's address and the instructor's token."""


def place_of(learner: str, folder: str | Path | None = None) -> dict[str, str]:
    """Requests and returns the environment variables of a learner's notebooks. The workshop's server adds new learners.

    Args:
        learner: Name of the user at the hub.
        folder: Folder of the workshop. None means that ``SVC_INSTRUCTOR_URL`` and ``SVC_INSTRUCTOR_TOKEN`` specify the
            server.

    Raises:
        EmulatorUnreachable: No server responds.
        ControlRefused: The token is wrong, or the name is not valid for a learner.
        FileNotFoundError: The folder contains no ``server.json``, so no workshop server was started there.
        KeyError: ``folder`` is None, and one of the two environment variables is not set.
    """
    if folder is None:
        url, token = os.environ["SVC_INSTRUCTOR_URL"], os.environ["SVC_INSTRUCTOR_TOKEN"]
    else:
        server = parse((Path(folder) / SERVER_FILE).read_text(encoding="utf-8"))
        url, token = server["url"], server["token"]
    answer = ControlPlane(url, token).request("POST", f"/learners/{quote(learner, safe='')}/add", {})
    return {str(name): str(value) for name, value in answer["environment"].items()}


def configure(c: Any, *, folder: str | Path | None = None, lessons: str | Path | None = None) -> None:
    """Configures a hub for a workshop. Later code in ``jupyterhub_config.py`` can override all settings.

    Args:
        c: Result of ``get_config()``.
        folder: Folder of the workshop on the hub's machine. None means that the environment variables
            ``SVC_INSTRUCTOR_URL`` and ``SVC_INSTRUCTOR_TOKEN`` specify the server.
        lessons: Folder in which each learner gets a subfolder with a copy of the lessons, without solutions. None means
            that the hub copies no lessons, and notebook servers start in the folder that the spawner specifies.
    """

    def before_start(spawner: Any) -> None:
        spawner.environment |= place_of(spawner.user.name, folder)
        if lessons is not None:
            from svcnb.lessons import lessons_folder

            own = Path(lessons).resolve() / spawner.user.name
            own.mkdir(parents=True, exist_ok=True)
            spawner.notebook_dir = str(lessons_folder(own, solutions=False))

    c.Spawner.pre_spawn_hook = before_start
    if lessons is not None:
        c.Spawner.default_url = "/lab/tree/01-quickstart.ipynb"
    # A learner's notebook server must not inherit the environment of the hub.
    c.Spawner.env_keep = ["PATH", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "SVC_CACHE", "SVC_DENO", "SVC_ANVIL"]
