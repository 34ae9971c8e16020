"""The reconciler: claims due work, observes the cloud, compares, takes steps and records the result."""
