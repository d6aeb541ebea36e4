"""The magic ``%svc``, which selects the service for the cells of a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from svcnb.client import Client
from svcnb.client.errors import ConfigError, InvalidArgument, ServiceError
from svcnb.client.key_check import is_key_valid
from svcnb.client.models.base import Model
from svcnb.control import EmulatorControl
from svcnb.magics.arguments import Options
from svcnb.protocol.vocabulary import Vocabulary

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

USUAL_NAME: Final = "svc"
VERBS: Final = {
    "status": "Show the service, the key and the credit. This is the default.",
    "connect": (
        "Choose the service: the name of a variable (a client or an emulator), or an address. Default: the service of "
        "SVC_BASE_URL, with the key of SVC_API_KEY."
    ),
    "disconnect": "Disconnect from the chosen service.",
    "help": "Show help for the magics.",
}


class Status(Model):
    """Status of the service that the cells of a notebook use."""

    service: str
    """Address of the service."""

    key: str
    """``yes`` if the client's key belongs to an account, ``unknown`` for any other key, and ``none`` without a key."""

    node: str = ""
    """Name, version and readiness of the service."""

    credit: str = ""
    """Remaining credit of the account. Empty without a key of an account.

    ``unknown`` means that the service did not return the credit.
    """

    from_: str = ""
    """Source of the selected client, for example a variable or the environment."""

    quiet: ClassVar[frozenset[str]] = frozenset({"service"})

    def summary(self) -> dict[str, Any]:
        """Returns the values to display, without a local address, because its port differs between runs."""
        return {
            "service": "this machine" if _is_local(self.service) else self.service,
            "node": self.node,
            "key": self.key,
            "credit": self.credit,
            "chosen by": self.from_,
        }


class Connection:
    """The magic ``%svc`` of one notebook, with the client that its user selected."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._chosen: Client | None = None
        self._by = ""
        self._own: list[Client] = []
        self.options: Options = Options(
            prog="%svc",
            description="Shows and chooses the service that %%action uses.",
            epilog=" ".join(f"{name}: {says}" for name, says in VERBS.items()),
        )
        self.options.add_argument(
            "verb", nargs="?", default="status", choices=list(VERBS), help="Operation. Default: status."
        )
        self.options.add_argument("target", nargs="?", help="With connect: a variable of the notebook, or an address.")
        self.options.add_argument(
            "--key", metavar="VARIABLE", help="With connect: the variable that contains the key or the account."
        )

    @property
    def vocabulary(self) -> Vocabulary:
        """Names of the service, or the names of the specification if there is no connection."""
        try:
            return self.client().vocabulary
        except (ConfigError, InvalidArgument):
            return Vocabulary()

    def client(self, name: str | None = None) -> Client:
        """Returns the client that a cell uses.

        Args:
            name: Name of a variable of the notebook that contains a client or an emulator. With None, the method
                returns the client that ``%svc`` selected. If none is selected, it returns the client in the variable
                ``svc``. If this variable contains no client, it creates a client with the settings of the environment.

        Raises:
            InvalidArgument: The variable does not exist, or contains another object.
            ConfigError: There is no client, and the address of the service is not set.
        """
        if name is not None:
            return self._of_variable(name)
        if self._chosen is not None:
            return self._chosen
        found = self._shell.user_ns.get(USUAL_NAME)
        if isinstance(found, Client):
            self._by = f"the variable {USUAL_NAME}"
            return found
        try:
            client = Client()
        except ConfigError as error:
            raise ConfigError(
                "this notebook is not connected to a service",
                hint=(
                    f"Start an emulator in a cell: {USUAL_NAME} = svcnb.Emulator().client(). Or run %svc connect "
                    "VARIABLE or %svc connect ADDRESS."
                ),
            ) from error
        self._own.append(client)
        self._chosen, self._by = client, "the environment"
        return client

    def variables(self) -> list[str]:
        """Returns the names of the notebook's clients and emulators."""
        return sorted(
            name
            for name, value in self._shell.user_ns.items()
            if isinstance(value, (Client, EmulatorControl)) and not name.startswith("_")
        )

    def disconnect(self) -> None:
        """Clears the selection and closes the clients that this connection created."""
        for client in self._own:
            client.close()
        self._own.clear()
        self._chosen, self._by = None, ""

    def status(self) -> Status:
        """Returns the status of the service. This call is free."""
        client = self.client()
        version, health = client.node.version(), client.node.health()
        has_key = client.config.api_key is not None
        valid = has_key and is_key_valid(client)
        return Status(
            service=client.base_url,
            key="yes" if valid else "unknown" if has_key else "none",
            node=f"{version.name} {version.version}, {'ready' if health.healthy else 'not ready'}".strip(),
            credit=_credit(client) if valid else "",
            from_=self._by,
        )

    def svc(self, line: str) -> Status | None:
        """Executes a line of ``%svc``. Returns the status, or None after the verbs ``help`` and ``disconnect``."""
        asked = self.options.read(line)
        if asked.verb == "help":
            self._help()
            return None
        if asked.verb == "disconnect":
            self.disconnect()
            return None
        if asked.verb == "connect":
            self._connect(asked.target, asked.key)
        elif asked.target or asked.key:
            raise InvalidArgument(
                f"%svc {asked.verb} does not accept a variable, an address or --key",
                hint="To choose a service, run %svc connect VARIABLE or %svc connect ADDRESS.",
            )
        return self.status()

    def _connect(self, target: str | None, key: str | None) -> None:
        if target is None:
            client, by = self._made(None), "the environment"
        elif "://" in target:
            client, by = self._made(target), "its address"
        else:
            client, by = self._of_variable(target), f"the variable {target}"
        if key is not None:
            client, by = client.with_key(self._variable(key)), f"{by}, with the key in {key}"
        self._chosen, self._by = client, by

    def _made(self, address: str | None) -> Client:
        client = Client(address)
        self._own.append(client)
        return client

    def _of_variable(self, name: str) -> Client:
        value = self._variable(name)
        if isinstance(value, Client):
            return value
        if isinstance(value, EmulatorControl):
            return value.client()
        raise InvalidArgument(
            f"invalid variable {name!r} of type {type(value).__name__}: expected a client or an emulator",
            hint="Create a client: svcnb.Client(address, api_key=...), or emulator.client().",
        )

    def _variable(self, name: str) -> Any:
        if name not in self._shell.user_ns:
            raise InvalidArgument(
                f"undefined variable {name!r}", hint="Run the cell that defines the variable, then run this cell again."
            )
        return self._shell.user_ns[name]

    def _help(self) -> None:
        self.options.print_help()
        told = self._shell.magics_manager.magics["cell"]["action"].__doc__
        print(f"\n{told}")  # noqa: T201 - help is printed


def _credit(client: Client) -> str:
    try:
        return client.billing.balance().balance_display
    except ServiceError:  # for example, billing is disabled
        return "unknown"


def _is_local(address: str) -> bool:
    from urllib.parse import urlsplit

    return (urlsplit(address).hostname or "") in {"127.0.0.1", "localhost", "::1"}
