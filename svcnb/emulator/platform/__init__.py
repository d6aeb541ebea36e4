"""Base components, such as clock, store, limits and signals. They do not import the service's other packages."""
