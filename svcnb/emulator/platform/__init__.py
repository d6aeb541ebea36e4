"""Clock, store, limits and signals: components that know no endpoint and no area of the service."""
