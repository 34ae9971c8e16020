"""``virtual:instance``: reservations of slots with the size that the request states."""
