"""Native tool formats and their projection onto the descriptor; a library that knows nothing of the suite."""
