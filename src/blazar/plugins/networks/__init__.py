"""``network``: reservations of network segments."""
