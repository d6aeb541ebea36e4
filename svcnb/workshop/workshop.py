"""A workshop: learners, their accounts, their progress, and what a teacher does with them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svcnb.client.errors import InvalidArgument
from svcnb.control import EmulatorControl
from svcnb.toolkit.exercises import EXERCISES
from svcnb.workshop.board import Board
from svcnb.workshop.roster import Learner, Progress, Roster
from svcnb.workshop.saved import Restored, Saved, restore

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.workshop.desk import Desk

STARTER_CENTS: Final = 500
ROSTER_FILE: Final = "roster.json"


class Workshop:
    """One emulator, many learners. May be used from several threads.

    Args:
        emulator: The emulator that all share.
        learners: Their names; more may come with `add`.
        credit_cents: What each account begins with, in cents.
        folder: Where the roster is kept, so that another process goes on with the same learners; in memory when None.
            The file holds account keys and is readable for its owner alone.

    Raises:
        InvalidArgument: Somebody cannot be called so, or the folder holds something else.
    """

    def __init__(
        self,
        emulator: EmulatorControl,
        learners: Iterable[str] = (),
        *,
        credit_cents: int = STARTER_CENTS,
        folder: str | Path | None = None,
    ) -> None:
        self.emulator = emulator
        self.credit_cents = credit_cents
        self.roster = Roster(None if folder is None else Path(folder) / ROSTER_FILE)
        self.desk: Desk | None = None
        for name in learners:
            self.add(name)

    def __repr__(self) -> str:
        return f"Workshop({len(list(self.roster))} learners)"

    # --- places -------------------------------------------------------------------------------------------------

    def add(self, name: str) -> Learner:
        """Gives a learner a place: an account with starter credit. One who has a place keeps it.

        Args:
            name: Lower-case letters, digits, dots and hyphens.
        """
        with self.roster.lock:
            learner = self.roster.add(name)
            if not learner.api_key:
                self._open_account(learner)
            return learner

    def learner(self, name: str) -> Learner:
        """One learner.

        Raises:
            UnknownLearner: Nobody is called so.
        """
        return self.roster.of_name(name)

    def client(self, name: str) -> Client:
        """A client with a learner's account key, to look at the same things as the learner."""
        return self.emulator.client(api_key=self.learner(name).key)

    def hand_out(self) -> dict[str, dict[str, str]]:
        """The environment of each learner's notebooks, by name. Holds secrets: give each learner their own alone."""
        return {each.name: self.environment(each.name) for each in self.roster}

    def environment(self, name: str) -> dict[str, str]:
        """The environment of one learner's notebooks: service, account, desk. Holds secrets.

        Args:
            name: Who.
        """
        learner = self.learner(name)
        found = {
            "SVC_BASE_URL": self.emulator.base_url,
            "SVC_TRIGGERS_URL": self.emulator.triggers_url,
            "SVC_RPC_URL": self.emulator.rpc_url,
            "SVC_API_KEY": learner.api_key,
        }
        if self.desk is not None:
            found |= {"SVC_WORKSHOP_URL": self.desk.url, "SVC_WORKSHOP_TOKEN": learner.token}
        return found

    # --- progress -----------------------------------------------------------------------------------------------

    def record(self, name: str, exercise: str, *, right: bool) -> None:
        """Writes down the verdict on an answer. What was solved stays solved.

        Raises:
            InvalidArgument: There is no such exercise.
        """
        if exercise not in EXERCISES:
            raise InvalidArgument(f"no exercise is called {exercise[:80]!r}")
        with self.roster.lock:
            before = self.learner(name).progress.get(exercise, Progress())
            self.learner(name).progress[exercise] = Progress(right=before.right or right, tries=before.tries + 1)
            self.roster.keep()

    def board(self) -> Board:
        """Who has solved what, now."""
        with self.roster.lock:
            return Board(list(self.roster), list(EXERCISES))

    # --- for one learner, while the others go on ----------------------------------------------------------------

    def reset(self, name: str) -> Learner:
        """Gives a learner a fresh account with starter credit, and forgets progress and saved states.

        The old account stays on the chain, and nobody has its key any more. The learner's notebooks see the new one
        after their kernels have started again with the new `environment`.
        """
        with self.roster.lock:
            learner = self.learner(name)
            learner.progress.clear()
            learner.saved.clear()
            self._open_account(learner)
            return learner

    def save(self, name: str, label: str) -> None:
        """Remembers what a learner's account holds: groups, permissions of keys, actions, credit.

        Args:
            name: Who.
            label: What to call it.
        """
        saved = Saved.of(self.client(name))
        with self.roster.lock:
            self.learner(name).saved[label] = saved
            self.roster.keep()

    def restore(self, name: str, label: str) -> Restored:
        """Makes a learner's account hold again what it held. The account, its key and its wallets stay the same.

        Args:
            name: Who.
            label: As in `save`.

        Raises:
            InvalidArgument: Nothing was saved under that label.
        """
        learner = self.learner(name)
        with self.roster.lock:
            saved = learner.saved.get(label)
            known = ", ".join(sorted(learner.saved)) or "nothing yet"
        if saved is None:
            raise InvalidArgument(f"nothing of {name} was saved as {label!r}", hint=f"Saved: {known}.")
        svc = self.client(name)
        self._credit_to(learner, svc, saved.credit_cents + STARTER_CENTS)  # going back costs cents, too
        done = restore(svc, saved)
        self._credit_to(learner, svc, saved.credit_cents)
        return done

    # --- the desk -----------------------------------------------------------------------------------------------

    def open_desk(self, *, host: str = "127.0.0.1", port: int = 0, url: str | None = None) -> Desk:
        """Opens what the learners' notebooks talk to beside the service, and the board's page.

        Args:
            host: Address to listen on.
            port: Port; 0 takes a free one.
            url: Its address as learners reach it, where that is another than host and port.
        """
        from svcnb.workshop.desk import Desk

        self.desk = Desk(self, host=host, port=port, url=url)
        return self.desk

    def close(self) -> None:
        """Closes the desk. Accounts and roster stay."""
        if self.desk is not None:
            self.desk.close()
            self.desk = None

    def _open_account(self, learner: Learner) -> None:
        with self.emulator.client() as svc:
            account = svc.accounts.create(f"{learner.name} {learner.round + 1}")
            mine = svc.with_key(account)
            learner.round += 1
            learner.wallet_address, learner.api_key = account.wallet_address, account.api_key.reveal()
            self._credit_to(learner, mine, self.credit_cents)
        self.roster.keep()

    def _credit_to(self, learner: Learner, svc: Client, cents: int) -> None:
        """Gives what is missing; credit is never taken away."""
        missing = cents - svc.billing.balance().available_cents
        if missing > 0:
            self.emulator.credit(learner.wallet_address, missing)
