"""What authors of resource plugins test with."""
