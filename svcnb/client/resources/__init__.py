"""Resources of the service, with one file for each resource, and the flows that both clients use."""
