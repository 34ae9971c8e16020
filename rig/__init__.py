"""The service's own processes on one machine, with all that they need: for bench/ and tests/faults."""
