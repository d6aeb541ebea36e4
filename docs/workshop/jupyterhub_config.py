"""JupyterHub for the learners of a workshop that runs on the same machine (`svcnb workshop start`)."""

import os
import sys
from pathlib import Path

from svcnb.workshop.hub import configure

c = get_config()  # noqa: F821 - JupyterHub defines it

configure(c, folder="workshop", lessons="workshop-lessons")

# One password for the workshop. Any valid learner name can log in with it.
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = os.environ["SVC_HUB_PASSWORD"]
c.Authenticator.allow_all = True
c.Authenticator.username_pattern = "[a-z0-9][a-z0-9._-]{0,63}"

# A spawner starts the learners' servers. With the spawner `simple`, all servers run as one system user. The servers
# have separate folders and emulators, but the system does not protect a learner's files from the other learners. If
# learners do not trust each other, use a spawner that starts each server in a container.
c.JupyterHub.spawner_class = "simple"
c.Spawner.cmd = [str(Path(sys.executable).with_name("jupyterhub-singleuser"))]
c.SimpleLocalProcessSpawner.home_dir_template = str(Path("workshop-homes").resolve() / "{username}")

c.JupyterHub.bind_url = os.environ.get("SVC_HUB_URL", "http://127.0.0.1:8000")
c.ConfigurableHTTPProxy.command = [str(Path(sys.executable).with_name("configurable-http-proxy"))]
