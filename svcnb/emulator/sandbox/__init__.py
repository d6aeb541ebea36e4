"""Engines that run the JavaScript of actions, and the host operations that actions can request."""
