"""Models of results, with one file for each resource."""
