"""The policy classes of RecurrentPPO."""

from rlk_baselines.policies.by_name import CnnLstmPolicy, MlpLstmPolicy, MultiInputLstmPolicy

RecurrentActorCriticPolicy = MlpLstmPolicy
RecurrentActorCriticCnnPolicy = CnnLstmPolicy
RecurrentMultiInputActorCriticPolicy = MultiInputLstmPolicy

__all__ = [
    "CnnLstmPolicy",
    "MlpLstmPolicy",
    "MultiInputLstmPolicy",
    "RecurrentActorCriticCnnPolicy",
    "RecurrentActorCriticPolicy",
    "RecurrentMultiInputActorCriticPolicy",
]
