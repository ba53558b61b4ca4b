"""The review at the end of a block."""
