"""Usage of reserved resources over time: what was recorded, and the hours that follow from it."""
