"""A real OpenStack on this machine, for tests: ``make cloud`` and ``make cloud-down``; see README.md.

It starts Keystone, Placement, Glance, Nova, Neutron and Cinder from their published packages, its own MariaDB
and RabbitMQ, and this repository's service, all on the loopback interface and in one folder.
"""
