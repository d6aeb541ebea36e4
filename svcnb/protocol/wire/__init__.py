"""The JSON bodies of the interface, one noun a file.

Requests take the forms that callers really send (numbers or text for ids, hex with or without ``0x``), bring them to
one form and ignore members they do not know. Responses keep members they do not know, so a newer service stays
readable. Both wings use the same models: what the client sends is what the emulator reads.
"""
