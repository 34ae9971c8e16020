"""The console of Blazar as a panel of Horizon."""
