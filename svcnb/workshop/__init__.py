"""Workshops, in which each learner has their own emulators, and the instructor can follow and support every learner.

Example:
    ::

        from svcnb.workshop import Workshop

        workshop = Workshop(["ada", "grace"], folder="my-workshop")
        server = workshop.serve()               # server for the learners' notebooks, and the board
        workshop.hand_out()["ada"]              # environment variables of ada's notebooks
        workshop.board()                        # solved exercises of each learner
        workshop.save("ada", "before lunch"); workshop.restore("ada", "before lunch"); workshop.reset("ada")
        for emulator in workshop.running():     # injects a failure for all learners
            emulator.faults.next("chain")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.workshop.board import Board
from svcnb.workshop.roster import Learner, UnknownLearner
from svcnb.workshop.workshop import Workshop

if TYPE_CHECKING:
    from svcnb.workshop.server import WorkshopServer
else:

    def __getattr__(name: str) -> type:
        """Imports `WorkshopServer` on first use, because this class needs the ``emulator`` extra."""
        if name != "WorkshopServer":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from svcnb.workshop.server import WorkshopServer

        return WorkshopServer


__all__ = ["Board", "Learner", "UnknownLearner", "Workshop", "WorkshopServer"]
