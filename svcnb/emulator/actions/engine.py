"""Choosing the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svcnb.emulator.actions.protocol import Engine
    from svcnb.emulator.settings import Settings


def make_engine(settings: Settings) -> Engine:
    """The engine that the settings name.

    Args:
        settings: ``action_engine`` and the limits of processes.

    Raises:
        PartMissing: Deno or the engine's bundle is not on this machine.
    """
    from svcnb.emulator.actions.v8 import V8Engine

    return V8Engine(
        settings.limits,
        spares=settings.action_spares,
        concurrency=settings.action_concurrency,
        vocabulary=settings.vocabulary,
    )
