"""Action editor panel, which shows an action's CID during editing, runs the action, and shows the result."""

from __future__ import annotations

import asyncio
from typing import Any

import traitlets

from svcnb.client import Client
from svcnb.client.errors import ActionError, SigningError, SvcnbError
from svcnb.client.models.runs import Run
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.client.recorder import strip
from svcnb.client.signing import recover
from svcnb.control import EmulatorError
from svcnb.panels.base import command
from svcnb.panels.code_editor import CodePanel, names
from svcnb.panels.examples import FIRST, FIRST_PARAMS, examples
from svcnb.panels.resources import ResourcePanel, repairs, wallet_title
from svcnb.panels.traces import trace_view
from svcnb.panels.wire import field, parsed, pretty
from svcnb.protocol.action import Action
from svcnb.toolkit.lint import lint


class ActionEditor(ResourcePanel, CodePanel, bundle="action_editor"):
    """Panel in which the user edits and runs one action.

    The source is part of the widget's state, so a saved notebook contains it. The notebook does not contain parameters,
    responses or logs.

    Args:
        client: Client of the service, with the key that runs the action.
        action: Initial content: an action or its source.
        params: Parameters of ``main``, any JSON value. If ``action`` and ``params`` are both missing, the editor
            shows an example.

    Attributes:
        source: The source in the editor.
        result: Result of the last run. None before the first run and after a failed run.
        error: Error of the last run. None before the first run and after a successful run.

    Example:
        ``editor = svcnb.panels.ActionEditor(svc, action, {"n": 41})``, and then ``editor.action``, ``editor.result``
    """

    title = "Action editor"
    source = traitlets.Unicode().tag(sync=True)

    def __init__(self, client: Client, action: Action | str | None = None, params: object = None) -> None:
        given = Action(action) if isinstance(action, str) else action
        fresh = given is None and params is None
        self._name = given.name if given else ""
        self._base = given.source if given else FIRST
        self._params = FIRST_PARAMS if fresh else "" if params is None else pretty(params)
        self._told = ""
        self.result: Run | None = None
        self.error: SvcnbError | None = None
        super().__init__(client, source=self._base)

    @property
    def action(self) -> Action:
        """The action in the editor."""
        return Action(self.source, name=self._name)

    @property
    def params(self) -> Any:
        """Parameters of ``main``: the value of the JSON text in the editor. None if the text is empty.

        Raises:
            InvalidArgument: The text in the editor is not valid JSON.
        """
        return parsed(self._params)

    def about(self) -> dict[str, object]:
        """Returns the CID and the size in bytes of the action, for the `repr` of the panel."""
        return {"cid": self.action.cid, "size": self.action.size}

    # --- commands -----------------------------------------------------------------------------------------------

    @command
    def setup(self) -> dict[str, Any]:
        """Returns the initial data of a view: names for completion, initial source, parameters, name, and examples."""
        return {
            "names": names(self.client.vocabulary),
            "base": self._base,
            "params": self._params,
            "name": self._name,
            "has_key": self.client.config.api_key is not None,
            "examples": examples(self.client.vocabulary),
        }

    @command
    def keep(self, params: str, name: str) -> None:
        """Stores the parameters (as JSON text) and the name of the action.

        New views of the editor show both, and the properties `params` and `action` use them.
        """
        self._params, self._name = params, name

    @command
    def lint(self, source: str) -> dict[str, Any]:
        """Checks the source of an action, and returns the findings of the linter.

        If the parser of the linter is not installed, the method returns no findings and the reason.
        """
        try:
            found = lint(source, vocabulary=self.client.vocabulary)
        except ImportError as error:
            return {"marks": [], "missing": str(error)}
        kept = ("line", "column", "severity", "message", "hint")
        return {"marks": [{name: getattr(each, name) for name in kept} for each in found], "missing": ""}

    @command
    async def look_up(self) -> dict[str, Any]:
        """Returns the account's registered actions, and the actions that the account's groups permit.

        The calls are free.
        """
        resources = self.session.resources
        actions, groups = await asyncio.gather(resources.actions.list(), resources.groups.list())
        permitted = await asyncio.gather(*(resources.actions.list(group) for group in groups))
        return {
            "registered": {each.hashed_cid: each.name for each in actions if each.hashed_cid},
            "groups": [
                {
                    "id": group.id,
                    "name": group.name,
                    "every": any(each.is_wildcard for each in held),
                    "hashes": [each.hashed_cid for each in held if each.hashed_cid],
                }
                for group, held in zip(groups, permitted, strict=True)
            ],
        }

    @command
    async def run(self, source: str, params: str) -> dict[str, Any]:
        """Runs a source, and returns the result. For a failed action, the result contains the error and its line."""
        with field("source"):
            action = Action(source, name=self._name)
        with field("params"):
            received = parsed(params)
        self._tell_action(action)
        session = self.session
        runner, key = session.runner(), session.run_key
        caller = f"svc.with_key({session.named('key', key)})" if key else "svc"
        given = "" if received is None else f", {session.with_names(repr(strip(received)))}"
        self.record(f"run = {caller}.run(action{given})")
        self.channel.progress("Running")
        self.result = self.error = None
        try:
            run = await runner.run(action, received, until_effective=session.until_effective)
        except ActionError as error:
            self.error = error
            return await self._failed(error)
        except SvcnbError as error:
            self.error = error
            raise
        self.result = run
        return {
            "ok": True,
            "cid": run.cid,
            "response": pretty(run.response),
            "logs": run.logs,
            "elapsed": run.elapsed,
            "cost_cents": run.cost_cents,
            "notes": list(run.notes),
            "trace": await self._trace(run),
        }

    @command
    async def verify(self, message: str, signature: str) -> dict[str, str]:
        """Returns the address that signed a message (EIP-191), and the name of the account's wallet at this address.

        The method recovers the address without a request. The name is empty if the account has no such wallet, or if no
        account is open.
        """
        with field("signature", SigningError):
            recovered = recover(message, signature)
        self.record(f"signer = svcnb.recover({message!r}, {signature!r})")
        wallets = await self.session.resources.wallets.list() if self.session.mode else []
        position = next((n for n, each in enumerate(wallets) if each.address.lower() == recovered.lower()), None)
        master = master_wallet_of(wallets)
        name = "" if position is None else wallet_title(wallets[position], position, master)
        return {"recovered": recovered, "wallet": name}

    @command
    async def explain(self, source: str, wallet: str = "") -> dict[str, Any]:
        """Returns whether the chosen key can run a source with a wallet, or which permission is missing."""
        session = self.session
        key = session.run_key or None
        if session.account is not None and key is None:
            session.runner()  # the error message explains that the run needs a usage key
        found = await (session.account or self.service).explain(key, Action(source), wallet or None)  # type: ignore[arg-type]  # checked
        self._tell_action(Action(source))
        told = ", ".join([session.named("key", key) if key else "None", "action", *([repr(wallet)] if wallet else [])])
        self.record(f"print({session.subject}.explain({told}))")
        # The group that lacks only a permission for the action or the wallet, or 0 if there is none.
        lacking = next((link.id for link in found.groups if link.key and not link.connects), 0)
        return {
            "permitted": found.allowed,
            "reason": found.reason,
            "key": found.key,
            "group": 0 if found.allowed else lacking,
            **repairs(found),
        }

    @command
    def derive(self, source: str, constant: str, name: str, version: int) -> dict[str, str]:
        """Appends a constant (JSON text) to a source, and returns the derived action.

        The method does not run the action.
        """
        with field("constant"):
            value = parsed(constant, "the constant")
        with field("source"):
            template = Action(source, name=self._name)
        with field("constant_name"):
            derived = template.derive(value, name=name, protocol_version=version)
        self._tell_action(template)
        self.record(f"action = action.derive({value!r}, name={name!r}, protocol_version={version!r})")
        self._told = derived.source
        return {
            "source": derived.source,
            "added": derived.source[len(source) :],
            "cid": derived.cid,
            "hashed_cid": derived.hashed_cid,
        }

    @command
    async def register(self, source: str, name: str) -> dict[str, str]:
        """Registers a source under a name, and returns the name and the hashed CID.

        In API mode, the call costs one cent. In ChainSecured mode, the owner's wallet pays the gas.
        """
        with field("source"):
            action = Action(source, name=name)
        with field("name"):
            registered = await self.session.resources.actions.register(action)
        self._name = name
        self._tell_action(action)
        self.record(f"{self.session.subject}.actions.register(action, name={name!r})")
        self.session.changed("resources")
        return {"name": registered.name, "hashed_cid": action.hashed_cid}

    # --- internal methods ---------------------------------------------------------------------------------------

    def action_code(self, action: Action) -> str:
        """Records Python code that defines the action, and returns the variable of the action."""
        self._tell_action(action)
        return "action"

    def _tell_action(self, action: Action) -> None:
        if action.source != self._told:
            self._told = action.source
            self.record(f"action = svcnb.Action({python_text(action.source)})")

    async def _trace(self, of: Run | ActionError) -> dict[str, Any] | None:
        try:
            return trace_view(await self.service.trace(of))
        except SvcnbError:
            return None  # a live service stores no timeline, so the result has none

    async def _failed(self, error: ActionError) -> dict[str, Any]:
        return {
            "ok": False,
            "stage": error.stage,
            "name": error.name,
            "message": error.message,
            "line": error.line,
            "column": error.column,
            "stack": error.stack,
            "logs": await asyncio.to_thread(self._logs_of, error.request_id),
            "trace": await self._trace(error),
        }

    def _logs_of(self, request_id: str) -> str:
        """Returns the console output of a failed action from the record of an emulator.

        The result is empty for other services, because they discard this output.
        """
        try:
            return str(self._control.request("GET", f"/runs/{request_id}")["logs"])
        except EmulatorError:
            return ""


def python_text(source: str) -> str:
    """Returns a source as a Python string literal. The literal has several lines if this form preserves every byte."""
    if "\\" in source or '"""' in source or "\r" in source or not source.endswith("\n"):
        return repr(source)
    return f'"""\\\n{source}"""'
