"""`rlk import`: models of Stable Baselines 2.10 and Stable-Baselines3 as model files of rlk."""
