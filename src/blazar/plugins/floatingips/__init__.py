"""``virtual:floatingip``: addresses that appear in the lessee's project for the time of the lease."""
