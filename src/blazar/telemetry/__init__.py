"""What operators watch a process by: metrics, health checks, and what a log line says it is about."""
