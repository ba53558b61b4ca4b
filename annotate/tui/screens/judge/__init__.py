"""A judge at work: how fast, what failed, what it costs, and a key to stop it."""
