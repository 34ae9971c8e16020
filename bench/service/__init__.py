"""What the service costs, measured on its own processes (``python -m bench.service --help``)."""
