"""Substitute for ``Crypto.Protocol.KDF``, which eth-keyfile imports. Any use of PBKDF2 or scrypt raises an error."""

from Crypto import Absent

PBKDF2 = Absent("Crypto.Protocol.KDF.PBKDF2")
scrypt = Absent("Crypto.Protocol.KDF.scrypt")
