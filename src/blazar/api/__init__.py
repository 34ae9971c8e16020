"""The REST API v1: routes, policies, schemas, faults. Decides nothing and has no database."""
