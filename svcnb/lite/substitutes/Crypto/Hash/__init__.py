"""What eth-account and eth-hash need of pycryptodome, which has no build for WebAssembly on the package index."""

from Crypto import Absent

HMAC = Absent("Crypto.Hash.HMAC")
SHA256 = Absent("Crypto.Hash.SHA256")
