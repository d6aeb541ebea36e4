"""Substitute for pycryptodome, which has no build for WebAssembly: the parts that eth-account and eth-hash use."""

from Crypto import Absent

HMAC = Absent("Crypto.Hash.HMAC")
SHA256 = Absent("Crypto.Hash.SHA256")
