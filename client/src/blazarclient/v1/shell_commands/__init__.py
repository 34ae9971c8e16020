"""The commands of API version 1."""
