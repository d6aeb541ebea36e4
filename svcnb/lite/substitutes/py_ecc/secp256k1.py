"""Substitute for ``py_ecc.secp256k1``: the order of the curve secp256k1."""

from svcnb.protocol.curve import ORDER as N

__all__ = ["N"]
