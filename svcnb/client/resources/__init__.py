"""Resources of the service, one per file, with flows that both clients use."""
