"""The policy classes of RecurrentPPO."""

from rlk_baselines.policies.by_name import CnnLstmPolicy, MlpLstmPolicy, MultiInputLstmPolicy

__all__ = ["CnnLstmPolicy", "MlpLstmPolicy", "MultiInputLstmPolicy"]
