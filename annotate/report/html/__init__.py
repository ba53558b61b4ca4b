"""The report as one HTML file: no script, no network, inline SVG; every string is escaped in one place."""
