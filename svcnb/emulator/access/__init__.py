"""Authentication and permissions, with API keys, guards, wallet signatures, and a cache of the contract's state."""
