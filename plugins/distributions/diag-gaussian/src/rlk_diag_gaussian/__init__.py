"""The Gaussian with a diagonal covariance for rlk."""
