"""``virtual:instance``: slots of a size that the request says."""
