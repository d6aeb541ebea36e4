"""Substitute for ``Crypto.Hash``, which eth-keyfile imports. Any use of HMAC or SHA256 raises an error."""

from Crypto import Absent

HMAC = Absent("Crypto.Hash.HMAC")
SHA256 = Absent("Crypto.Hash.SHA256")
