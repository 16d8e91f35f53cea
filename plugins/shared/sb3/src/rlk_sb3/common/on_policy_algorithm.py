"""The base class of Stable-Baselines3's on-policy models."""

from __future__ import annotations

from typing import Any, ClassVar

from rlk_baselines.arguments import Argument
from rlk_baselines.policies.classes import LstmPolicy
from rlk_baselines.policies.registered import class_of
from rlk_baselines.refusals import Refused
from rlk_sb3.algorithm import BaseAlgorithm
from rlk_sb3.common.policies import ActorCriticPolicy
from rlk_sb3.policy_view import ActorCriticView
from rlk_sb3.rollout_view import ModelsRollout
from rlk_sb3.saved.loading import FilesOfSB3
from rlk_sb3.saved.names import ACTOR_CRITIC

#: The arguments about the storage of collections.
ROLLOUT_BUFFER = (
    Argument("rollout_buffer_class", rlk=None, only="rlk.make has storages: storage=NAME."),
    Argument("rollout_buffer_kwargs", rlk=None, only="rlk.make has storages: storage={…}."),
)


class OnPolicyAlgorithm(BaseAlgorithm):
    """The base class of on-policy models."""

    foreign_files = FilesOfSB3(ACTOR_CRITIC)
    viewed = ActorCriticView
    n_steps: int
    gae_lambda: float
    normalize_advantage: bool
    policy_aliases: ClassVar[dict[str, Any]] = {
        **BaseAlgorithm.policy_aliases,
        "MlpPolicy": ActorCriticPolicy,
    }

    def _policy_settings(self) -> dict[str, Any]:
        """As in `BaseAlgorithm`; Refused for a policy with an LSTM whose place is not given."""
        chosen = class_of(self._given["policy"])
        has_lstm = isinstance(chosen, type) and issubclass(chosen, LstmPolicy)
        if has_lstm and "net_arch" not in self.policy_kwargs:
            raise Refused(
                f"{type(self).__name__}: policy {chosen.__name__!r} has an LSTM, as those of "
                "rlk_sb3_contrib.RecurrentPPO have. Use that, or "
                f"rlk.make({self.algo!r}, policy='lstm')."
            )
        return super()._policy_settings()

    @property
    def rollout_buffer(self) -> ModelsRollout:
        """The latest collection, to be read."""
        return ModelsRollout(self)
