"""What eth-account and eth-hash need of pycryptodome, which has no build for WebAssembly on the package index."""

from Crypto import Absent

AES = Absent("Crypto.Cipher.AES")
