"""Performance of the service, measured on its own processes (``python -m bench.service --help``)."""
