"""What eth-account and eth-hash need of pycryptodome, which has no build for WebAssembly on the package index."""

from Crypto import Absent

PBKDF2 = Absent("Crypto.Protocol.KDF.PBKDF2")
scrypt = Absent("Crypto.Protocol.KDF.scrypt")
