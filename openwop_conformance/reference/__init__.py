"""The embedded host: a small, honest OpenWOP host that borrows nothing from the suite."""
