"""`rlk import`: models of Stable Baselines 2.10 and 3 and sb3-contrib as model files of rlk."""
