"""The Gaussian squashed by tanh for rlk."""
