"""Substitute for pycryptodome, which has no build for WebAssembly: the parts that eth-account and eth-hash use."""

from Crypto import Absent

Counter = Absent("Crypto.Util.Counter")
