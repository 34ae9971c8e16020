"""Taking over an existing installation: its database becomes ours.

``plan`` decides everything from the rows that are there and what is here, without I/O; ``taking`` reads, has
it decided, and writes. What was wrong there, and what became of every row, is in the ``ledger``.
"""
