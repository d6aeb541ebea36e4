"""Authentication and permissions: keys, guards, wallet signatures, and a cache of the contract's answers."""
