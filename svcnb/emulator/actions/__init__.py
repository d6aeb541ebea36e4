"""Actions: who may run one, and the engines that run it."""
