"""Chain of the emulator, with a real EVM, the deployed contract, and the journal that makes the chain durable."""
