"""Resource plugins: what can be reserved, one folder each, and the contract they keep."""
