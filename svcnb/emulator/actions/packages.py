"""Packages that actions import, from a folder on this machine (reference facts 5.5)."""

from __future__ import annotations

from pathlib import Path

from svcnb.emulator.actions.protocol import Module, OperationRefused


class Packages:
    """A folder of pinned packages."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, specifier: str, importer: str | None) -> Module:
        """The source of a module."""
        raise OperationRefused(f"Cannot import {specifier!r} from {self._folder}")
