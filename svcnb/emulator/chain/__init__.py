"""The chain: a real EVM, the contract on it, and the journal that makes it durable."""
