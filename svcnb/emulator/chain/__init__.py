"""Chain of the emulator: a real EVM, the deployed contract, and the journal that makes the chain durable."""
