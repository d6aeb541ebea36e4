"""Package that contains the substitute for ``Crypto.Protocol.KDF``."""
