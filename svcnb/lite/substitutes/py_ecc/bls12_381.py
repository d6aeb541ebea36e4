"""Substitute for ``py_ecc.bls12_381``: the order of the curve BLS12-381."""

curve_order = 0x73EDA753_299D7D48_3339D808_09A1D805_53BDA402_FFFE5BFE_FFFFFFFF_00000001
