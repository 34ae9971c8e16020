"""The embedded service: API and manager in one process, on SQLite and a simulated cloud."""
