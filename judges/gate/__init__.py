"""May this judge score the full run? Checks against thresholds, looks that are counted, a certificate that binds."""
