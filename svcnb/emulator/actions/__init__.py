"""Execution of actions: permissions, and the engines that run them."""
