"""Pure checks: observed data in, findings out."""
