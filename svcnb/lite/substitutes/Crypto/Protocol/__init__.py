"""Substitute for pycryptodome, which has no build for WebAssembly: the parts that eth-account and eth-hash use."""
