"""Substitute for ``Crypto.Cipher``, which eth-keyfile imports. Any use of AES raises an error."""

from Crypto import Absent

AES = Absent("Crypto.Cipher.AES")
