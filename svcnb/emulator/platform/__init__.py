"""Clock, store, limits and signals: components that use no endpoint and no area of the service."""
