"""DDPG with an ensemble of critics, as a package outside of rlk writes it."""
