"""Files of a run: what they hold, how they are found and read, and how a run is restored."""
