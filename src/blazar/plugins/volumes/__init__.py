"""``virtual:volume``: reservations of capacity in storage pools."""
