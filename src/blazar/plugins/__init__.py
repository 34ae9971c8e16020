"""Resource plugins, one folder each, and the contract that they implement."""
