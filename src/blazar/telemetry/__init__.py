"""Monitoring of a process: metrics, health checks, and the context of log lines."""
