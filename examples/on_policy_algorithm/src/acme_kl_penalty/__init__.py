"""PPO with a penalty on the divergence, as a package outside of rlk writes it."""
