"""The policies of RecurrentPPO, by module as in sb3-contrib."""
