"""What is asked of a host: requirements, vectors and scenarios."""
