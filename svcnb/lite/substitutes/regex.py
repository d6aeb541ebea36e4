"""Substitute for the library `regex`, which has no build for WebAssembly: Python's own regular expressions."""

from re import *
