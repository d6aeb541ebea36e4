"""Substitute for ``py_ecc.bls``, with keys of the BLS signature scheme. Any use of these keys raises an error."""

from Crypto import Absent

G2ProofOfPossession = Absent("py_ecc.bls.G2ProofOfPossession")
