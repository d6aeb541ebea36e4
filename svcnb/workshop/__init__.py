"""A teacher's kit: many learners on one emulator, each with an account, and a board that shows how far they are.

Example:
    ::

        from svcnb.workshop import Workshop

        room = Workshop(emulator, ["ada", "grace"], folder="my-workshop")
        desk = room.open_desk()             # what the learners' notebooks talk to, and the board
        room.hand_out()["ada"]              # the environment of ada's notebooks
        room.board()                        # who has solved what
        room.save("ada", "before lunch"); room.restore("ada", "before lunch"); room.reset("ada")
        emulator.faults.next("chain")       # failures on purpose, for the whole room
"""

from __future__ import annotations

from svcnb.workshop.board import Board
from svcnb.workshop.desk import Desk
from svcnb.workshop.roster import Learner, UnknownLearner
from svcnb.workshop.saved import Restored
from svcnb.workshop.workshop import Workshop

__all__ = ["Board", "Desk", "Learner", "Restored", "UnknownLearner", "Workshop"]
