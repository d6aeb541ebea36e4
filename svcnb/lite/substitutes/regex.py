"""Python's own regular expressions, in place of the library `regex`, which has no build for WebAssembly."""

from re import *
