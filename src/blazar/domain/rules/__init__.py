"""Usage rules: an operator's rules on when, how long and by whom resources may be reserved (ADR-0020)."""
