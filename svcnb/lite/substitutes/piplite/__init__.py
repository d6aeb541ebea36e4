"""Substitute for piplite, because a page has no connection to a package index."""

from piplite.piplite import install

__all__ = ["install"]
