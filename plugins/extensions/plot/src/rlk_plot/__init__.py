"""`rlk plot`: learning curves of runs. `rlk_plot.curves` reads them, `rlk_plot.figure` draws them."""
