"""Complete local emulator of the service: the API, the runtime, the contract on a real EVM, billing and triggers.

Only the start command and, in a browser page, `svcnb.launch` import this package. All other code connects to the
emulator over HTTP.
"""
