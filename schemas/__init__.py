"""The wire shapes as JSON Schema 2020-12, one document a file."""
