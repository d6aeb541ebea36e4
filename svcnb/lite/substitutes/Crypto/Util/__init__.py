"""Substitute for the parts of pycryptodome that eth-account and eth-hash use. It has no build for WebAssembly."""

from Crypto import Absent

Counter = Absent("Crypto.Util.Counter")
