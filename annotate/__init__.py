"""What people touch: the command line, the reading desk and the reports."""
