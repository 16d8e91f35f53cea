"""`rlk plot`: learning curves of runs. `curves` reads them, `figure` draws them."""
