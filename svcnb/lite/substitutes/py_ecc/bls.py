"""Keys of the BLS scheme: absent."""

from Crypto import Absent

G2ProofOfPossession = Absent("py_ecc.bls.G2ProofOfPossession")
