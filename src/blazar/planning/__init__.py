"""Planning of reservable capacity: from live data to a plan, and the effect of changes on a copy of the data.

Nothing here writes to the database or to the cloud.
"""
