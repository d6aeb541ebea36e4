"""Substitute for py-ecc, which does not run in browsers: the parts that eth-keyfile uses."""
