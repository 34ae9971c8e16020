"""Adapters of the cloud ports: the simulated cloud and OpenStack."""
