"""Substitute for the keys of the BLS scheme, which a page does not support."""

from Crypto import Absent

G2ProofOfPossession = Absent("py_ecc.bls.G2ProofOfPossession")
