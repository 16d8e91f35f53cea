"""Base classes for custom policies, with the names of Stable Baselines' `common.policies`."""

from rlk_custom_policies.feed_forward import FeedForwardPolicy
from rlk_custom_policies.lstm import LstmPolicy
from rlk_custom_policies.register import register_policy

__all__ = ["FeedForwardPolicy", "LstmPolicy", "register_policy"]
