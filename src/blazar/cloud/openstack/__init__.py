"""Adapters for OpenStack: Nova, Placement, Neutron, Glance and Keystone, located in Keystone's catalog.

They call the services' REST APIs over keystoneauth sessions (ADR-0011). Every call pins the microversion that
it was written for, and has a timeout. Only failed reads are repeated here, once; the reconciler does other
retries.
"""
