"""What rlk expects of an algorithm."""

from rlk_testing import AlgorithmContract


class TestKLPenaltyPPO(AlgorithmContract):
    component = "kl-penalty-ppo"
    learns = {"total_timesteps": 4096, "n_steps": 64, "learning_rate": 0.01}
    settings = {"n_epochs": 2, "n_minibatches": 2}  # fewer than the defaults, because tests train
