"""What gives a verdict, and how far to trust it. Knows no screen."""
