"""Independent Bernoulli distributions for rlk."""
