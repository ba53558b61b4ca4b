"""Reports for people: plain text, one HTML page, Markdown."""
