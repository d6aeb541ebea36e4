"""Substitute for ``Crypto.Util``, which eth-keyfile imports. Any use of Counter raises an error."""

from Crypto import Absent

Counter = Absent("Crypto.Util.Counter")
