"""The audit on the screen."""
