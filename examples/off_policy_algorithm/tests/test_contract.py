"""What rlk expects of an off-policy algorithm."""

from rlk_testing import OffPolicyContract


class TestEnsembleDDPG(OffPolicyContract):
    component = "ensemble-ddpg"
    target = "target"  # where state_dict() keeps the targets
    target_stays = {"tau": 0.0}  # with this the targets never move
    critic = "critic"  # the group whose loss batch.weight scales
    warms_up = True  # all actions are random before learning_starts
    settings = {"n_critics": 3}  # smaller than the defaults, because tests train
