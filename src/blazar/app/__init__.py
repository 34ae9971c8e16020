"""The use cases, one module a noun; each is one transaction."""
