"""``physical:host``: whole hosts, handed over by moving them between Nova aggregates."""
