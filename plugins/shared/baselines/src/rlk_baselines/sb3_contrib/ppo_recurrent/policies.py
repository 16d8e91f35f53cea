"""The policies of RecurrentPPO: each class stands for a name."""

from rlk_baselines.policies.by_name import CnnLstmPolicy, MlpLstmPolicy, MultiInputLstmPolicy

__all__ = ["CnnLstmPolicy", "MlpLstmPolicy", "MultiInputLstmPolicy"]
