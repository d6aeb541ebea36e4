"""Workshops: each learner has their own emulators, and the instructor sees progress and can help each learner.

Example:
    ::

        from svcnb.workshop import Workshop

        room = Workshop(["ada", "grace"], folder="my-workshop")
        server = room.serve()               # what the learners' notebooks talk to, and the board
        room.hand_out()["ada"]              # the environment of ada's notebooks
        room.board()                        # who has solved what
        room.save("ada", "before lunch"); room.restore("ada", "before lunch"); room.reset("ada")
        for emulator in room.running():     # failures on purpose, for everyone
            emulator.faults.next("chain")
"""

from __future__ import annotations

from svcnb.workshop.board import Board
from svcnb.workshop.roster import Learner, UnknownLearner
from svcnb.workshop.server import WorkshopServer
from svcnb.workshop.workshop import Workshop

__all__ = ["Board", "Learner", "UnknownLearner", "Workshop", "WorkshopServer"]
