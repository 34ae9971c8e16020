"""The service's own processes on one machine, with all their dependencies, for bench/ and tests/faults."""
