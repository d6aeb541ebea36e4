"""Substitute for the parts of py-ecc that eth-keyfile uses. py-ecc needs a part of Python that browsers lack."""
