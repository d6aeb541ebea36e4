"""Asynchronous classes of the client, generated from the synchronous ones by `poe asynchronous`. Do not edit."""
