"""Who calls, and what they may do: keys, guards, signatures, permissions as the contract knows them."""
