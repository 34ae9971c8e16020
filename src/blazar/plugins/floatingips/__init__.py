"""``virtual:floatingip``: reservations of addresses that exist in the lessee's project during the lease."""
