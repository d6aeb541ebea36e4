"""Substitute for pycryptodome, which has no build for WebAssembly: the parts that eth-account and eth-hash use."""

from Crypto import Absent

PBKDF2 = Absent("Crypto.Protocol.KDF.PBKDF2")
scrypt = Absent("Crypto.Protocol.KDF.scrypt")
