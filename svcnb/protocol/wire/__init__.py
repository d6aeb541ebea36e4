"""JSON bodies of the interface, one resource per file.

Requests accept all forms that callers send: numbers or text for ids, hex with or without ``0x``. They convert them to
one form and ignore unknown members. Responses keep unknown members, so those of a newer service can be read. Client and
emulator use the same models.
"""
