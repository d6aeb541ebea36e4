"""Resources of the service, one in each file, and the flows that both clients use."""
