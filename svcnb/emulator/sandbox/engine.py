"""Selection of the action engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.protocol.in_page import IN_PAGE

if TYPE_CHECKING:
    from svcnb.emulator.sandbox.protocol import Engine
    from svcnb.emulator.settings import Settings

_SPARES = 3
_SPARES_OF_AUTO = 1


def make_engine(settings: Settings) -> Engine:
    """Returns a new engine of the kind that ``settings.action_engine`` selects, or a `PageEngine` in a browser page.

    Args:
        settings: Settings with the engine, its limits, and the names that are visible to actions.

    Raises:
        ToolMissing: Deno or an engine's JavaScript bundle is not installed.
    """
    concurrency, vocabulary = settings.action_concurrency, settings.vocabulary
    if IN_PAGE:
        from svcnb.emulator.sandbox.page_engine import PageEngine

        return PageEngine(concurrency=concurrency, vocabulary=vocabulary)
    if settings.action_engine == "fast":
        from svcnb.emulator.sandbox.fast import FastEngine

        return FastEngine(settings.limits, concurrency=concurrency, vocabulary=vocabulary)
    if settings.action_engine == "auto":
        from svcnb.emulator.sandbox.auto import AutoEngine

        spares = settings.action_spares or _SPARES_OF_AUTO
        idle = settings.action_spares or 0
        return AutoEngine(settings.limits, spares=spares, idle=idle, concurrency=concurrency, vocabulary=vocabulary)
    from svcnb.emulator.sandbox.v8 import V8Engine

    spares = settings.action_spares or _SPARES
    return V8Engine(settings.limits, spares=spares, concurrency=concurrency, vocabulary=vocabulary)
