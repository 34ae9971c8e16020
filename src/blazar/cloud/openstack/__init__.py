"""The adapters of a real OpenStack: Nova, Placement, Neutron and Glance, known from Keystone's catalog.

They speak the services' REST APIs over keystoneauth's sessions (ADR-0011). Every call pins the
microversion that it was written for, has a timeout, and is made once: trying again is the reconciler's.
"""
