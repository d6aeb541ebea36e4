"""The chain: a real EVM, the contract on it, and the journal that makes it durable."""

from svcnb.emulator.chain.chain import Chain

__all__ = ["Chain"]
