"""`RecurrentPPO`: proximal policy optimisation with an LSTM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import constructor
from rlk_baselines.policies.classes import FeedForwardPolicy
from rlk_baselines.policies.registered import class_of
from rlk_baselines.refusals import Refused
from rlk_sb3.algorithm import LAST, SDE, Device
from rlk_sb3.policy_keywords import listed, settings_of
from rlk_sb3.policy_view import ActorCriticView
from rlk_sb3.ppo.ppo import OF_PPO, PPO
from rlk_sb3_contrib.ppo_recurrent.policies import (
    CnnLstmPolicy,
    MultiInputLstmPolicy,
    RecurrentActorCriticPolicy,
)
from rlk_sb3_contrib.ppo_recurrent.saved_files import FilesOfRecurrentPPO


@RecurrentActorCriticPolicy.register
class RecurrentView(ActorCriticView):
    """The policy of RecurrentPPO."""


class RecurrentPPO(PPO):
    """PPO with an LSTM for the policy, and by default another one for the value function.

    `predict` takes and returns the state of the LSTM:
    `action, state = model.predict(obs, state, episode_start)`.
    """

    algo = "ppo"
    has_own_files = True
    foreign_files = FilesOfRecurrentPPO()
    viewed = RecurrentView
    policy_aliases: ClassVar[dict[str, Any]] = {
        "MlpLstmPolicy": RecurrentActorCriticPolicy,
        "CnnLstmPolicy": CnnLstmPolicy,
        "MultiInputLstmPolicy": MultiInputLstmPolicy,
    }

    @constructor(*OF_PPO, *SDE, *LAST)
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.0003,
        n_steps: int = 128,
        batch_size: int = 128,
        n_epochs: int = 10,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        clip_range: Schedulable = 0.2,
        clip_range_vf: Schedulable | None = None,
        normalize_advantage: bool = True,
        ent_coef: float = 0.0,
        vf_coef: float = 0.5,
        max_grad_norm: float | None = 0.5,
        use_sde: bool = False,
        sde_sample_freq: int = -1,
        target_kl: float | None = None,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

    def _policy_settings(self) -> dict[str, Any]:
        """As in `BaseAlgorithm`; as in sb3-contrib, hidden layers come after the LSTM."""
        kwargs, policy = dict(self.policy_kwargs), self._given["policy"]
        _refuse_without_lstm(policy)
        if kwargs.pop("lstm_kwargs", None):
            raise Refused(
                "RecurrentPPO: policy_kwargs has lstm_kwargs, but rlk's LSTM has no such settings. "
                "Leave it out, or write a policy of your own: docs/custom-policies.md."
            )
        name = str(getattr(policy, "__name__", policy))
        if not kwargs.pop("share_features_extractor", True) and "Mlp" not in name:
            raise Refused(
                "RecurrentPPO: share_features_extractor is True here: both LSTMs see the features "
                "of one CNN. Leave it out, or write a policy of your own: docs/custom-policies.md."
            )
        kwargs["value_lstm"] = _value_lstm(kwargs)
        usual = self.layers_of_images if "Cnn" in name else self.layers
        sizes = kwargs.pop("net_arch", None)
        sizes = list(usual) if sizes is None else sizes
        if isinstance(sizes, Mapping):
            own = dict(sizes)
        else:
            own = {"pi": listed(sizes), "vf": listed(sizes)}
        kwargs |= {"n_lstm": kwargs.pop("lstm_hidden_size", 256), "net_arch": ["lstm", own]}
        return settings_of(policy, kwargs, self._policy_facts())


def _refuse_without_lstm(policy: Any) -> None:
    """Refuse a policy, or the name of one, that has no LSTM."""
    chosen = class_of(policy)
    if isinstance(chosen, type) and issubclass(chosen, FeedForwardPolicy):
        raise Refused(
            f"RecurrentPPO: policy {chosen.__name__!r} has no LSTM. Write 'MlpLstmPolicy', "
            "'CnnLstmPolicy' or 'MultiInputLstmPolicy'."
        )


def _value_lstm(kwargs: dict[str, Any]) -> str:
    """Remove the keywords of the value function's LSTM; the word of rlk's policy for them."""
    is_shared = kwargs.pop("shared_lstm", False)
    has_own = kwargs.pop("enable_critic_lstm", True)
    if is_shared and has_own:
        raise Refused(
            "RecurrentPPO: with shared_lstm=True the value function has no LSTM of its own. Add "
            "enable_critic_lstm=False."
        )
    if is_shared:
        return "shared"
    return "own" if has_own else "none"
