"""What may be left behind outside, kind by kind."""
