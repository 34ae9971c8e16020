"""The stores of resource types that have tables of their own; each declares its ``OWN_TABLE``."""
