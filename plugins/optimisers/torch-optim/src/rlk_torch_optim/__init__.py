"""The optimisers of `torch.optim` for rlk."""
