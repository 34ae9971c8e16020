"""``flavor:instance``: reservations of slots for servers of an existing flavor."""
