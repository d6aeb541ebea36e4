"""The service itself, complete and local: API, action runtime, contract on a real EVM, billing, triggers.

Nothing outside this package imports it except the command that starts it; everybody else speaks to it over the wire.
"""
