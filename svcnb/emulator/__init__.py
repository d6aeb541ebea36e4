"""Complete local emulator of the service: the API, the runtime, the contract on a real EVM, billing and triggers.

Only the start command imports this package, and `svcnb.launch` in a browser page. All other code connects to the
emulator over HTTP.
"""
