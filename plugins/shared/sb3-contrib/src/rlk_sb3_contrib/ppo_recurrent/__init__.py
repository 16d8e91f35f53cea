"""PPO with recurrent policies, and the policies."""

from rlk_sb3_contrib.ppo_recurrent.policies import (
    CnnLstmPolicy,
    MlpLstmPolicy,
    MultiInputLstmPolicy,
)
from rlk_sb3_contrib.ppo_recurrent.ppo_recurrent import RecurrentPPO

__all__ = ["CnnLstmPolicy", "MlpLstmPolicy", "MultiInputLstmPolicy", "RecurrentPPO"]
