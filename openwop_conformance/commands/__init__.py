"""What the command offers besides runs: serving the embedded host, projecting, linting."""
