"""Talking to a host: the only part of the suite that sends anything."""
