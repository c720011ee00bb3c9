"""One model of a run and the writers that show it."""
