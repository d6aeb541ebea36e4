"""Substitute for py-ecc, which needs a part of Python that browsers lack: only the parts that eth-keyfile uses."""
