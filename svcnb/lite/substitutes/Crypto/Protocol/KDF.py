"""Substitute for the parts of pycryptodome that eth-account and eth-hash use. It has no build for WebAssembly."""

from Crypto import Absent

PBKDF2 = Absent("Crypto.Protocol.KDF.PBKDF2")
scrypt = Absent("Crypto.Protocol.KDF.scrypt")
