"""Reports for people: plain text now."""
