"""Engines that run the JavaScript of actions, and everything they ask the service for."""
