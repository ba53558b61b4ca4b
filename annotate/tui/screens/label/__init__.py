"""The reading desk: one item, one label."""
