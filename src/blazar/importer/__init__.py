"""Import of an existing installation: its database is copied into this service's.

``plan`` decides everything from the rows of both databases, without I/O; ``importing`` reads, calls it,
and writes. The ``ledger`` records what was wrong in the existing database, and the fate of every row.
"""
