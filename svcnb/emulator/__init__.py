"""The service itself, complete and local: API, action runtime, contract on a real EVM, billing, triggers.

Outside this package, only the command that starts it imports it. All other code connects to it over the network.
"""
