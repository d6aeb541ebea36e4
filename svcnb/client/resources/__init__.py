"""Resources of the service, one in each file, and the request logic that `Client` and `AsyncClient` share."""
