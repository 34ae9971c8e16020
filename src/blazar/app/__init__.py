"""The use cases, one module per noun; each is one transaction."""
