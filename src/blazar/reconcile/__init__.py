"""Making the world match what leases say: claim due work, observe, compare, take steps, record."""
