"""JSON bodies of the interface, one resource per file.

Request models accept all formats that callers send: numbers or text for ids, and hex with or without ``0x``. The models
convert each value to one format, and ignore unknown members. Response models keep unknown members, so the client can
read the responses of a newer service. The client and the emulator use the same models.
"""
