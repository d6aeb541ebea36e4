"""Execution of actions, with permissions and the engines that run them."""
