"""A real OpenStack on this machine, for tests: ``make cloud`` and ``make cloud-down``; see README.md.

It starts Keystone, Placement, Glance, Nova and Neutron from their published packages, with MariaDB and
RabbitMQ of its own, and this repository's service on top, all on the loopback interface and in one folder.
"""
