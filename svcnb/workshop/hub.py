"""JupyterHub for a workshop: a learner who logs in gets the lessons and their own emulator.

In ``jupyterhub_config.py``::

    from svcnb.workshop.hub import configure
    configure(get_config(), folder="workshop", lessons="lessons")

The hub asks the workshop's server for the learner's environment when it starts a notebook server. A new learner is
added to the roster. It works with every spawner; set another for containers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from svcnb.control.plane import ControlPlane
from svcnb.protocol.nesting import parse

SERVER_FILE: Final = "server.json"
"""File in the workshop's folder with the address and the instructor's token of the running server."""


def place_of(learner: str, folder: str | Path | None = None) -> dict[str, str]:
    """Asks the workshop's server for the environment of a learner's notebooks. Adds a new learner.

    Args:
        learner: The user's name at the hub.
        folder: The workshop's folder. Without it, ``SVC_INSTRUCTOR_URL`` and ``SVC_INSTRUCTOR_TOKEN`` specify the
            server.

    Raises:
        EmulatorUnreachable: No server answers.
        ControlRefused: The token is wrong, or the name is not valid for a learner.
        FileNotFoundError: No workshop runs in that folder.
    """
    if folder is None:
        url, token = os.environ["SVC_INSTRUCTOR_URL"], os.environ["SVC_INSTRUCTOR_TOKEN"]
    else:
        server = parse((Path(folder) / SERVER_FILE).read_text(encoding="utf-8"))
        url, token = server["url"], server["token"]
    answer = ControlPlane(url, token).request("POST", f"/learners/{quote(learner, safe='')}/add", {})
    return {str(name): str(value) for name, value in answer["environment"].items()}


def configure(c: Any, *, folder: str | Path | None = None, lessons: str | Path | None = None) -> None:
    """Configures a hub for a workshop. All settings can be overridden afterwards.

    Args:
        c: Result of ``get_config()``.
        folder: The workshop's folder, on the hub's machine; the environment specifies the server when None.
        lessons: Folder below which each learner gets a copy of the lessons, without solutions; the spawner's own when
            None.
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
    # A learner's server must not inherit the environment of the hub's process.
    c.Spawner.env_keep = ["PATH", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "SVC_CACHE", "SVC_DENO", "SVC_ANVIL"]
