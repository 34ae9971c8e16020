"""A small licence server: pools of seats, grants to projects, and who uses what."""
