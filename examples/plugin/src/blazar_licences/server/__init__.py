"""A small licence server: pools of seats, grants to projects, and seats in use."""
