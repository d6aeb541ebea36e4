"""Base components, such as clock, store, limits and signals. They import no other packages of the service."""
