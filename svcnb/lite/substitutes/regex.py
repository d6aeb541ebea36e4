"""Substitute for the library `regex`, which has no build for WebAssembly. It uses Python's own regular expressions."""

from re import *
