"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlk_baselines.arguments import replaced
from rlk_baselines.common.buffers import PrioritizedReplayBuffer, ReplayBuffer
from rlk_baselines.ddpg.evaluations import Evaluations
from rlk_baselines.models import DeterministicModel
from rlk_baselines.policies.stepping import ValuedStep
from rlk_baselines.refusals import Refused

#: Arguments about evaluations.
_OF_EVALUATION = ("eval_env", "nb_eval_steps", "render_eval")
#: Buffer classes -> the storage of rlk that is used; None means the default one.
_STORAGES = {ReplayBuffer: None, PrioritizedReplayBuffer: "prioritized-replay"}


class DDPG(DeterministicModel):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    Its parameters are those of the plugin `ddpg`, which the README of rlk-ddpg describes; and
    `eval_env`, `nb_eval_steps` and `render_eval` for evaluations.
    """

    algo = "ddpg"
    has_cnns_apart = True
    trains_over_mpi = True
    stepped = ValuedStep
    names = (
        "gamma",
        "memory_policy",
        "eval_env",
        "nb_train_steps",
        "nb_rollout_steps",
        "nb_eval_steps",
        "param_noise",
        "action_noise",
        "normalize_observations",
        "tau",
        "batch_size",
        "param_noise_adaption_interval",
        "normalize_returns",
        "enable_popart",
        "observation_range",
        "critic_l2_reg",
        "return_range",
        "actor_lr",
        "critic_lr",
        "clip_norm",
        "reward_scale",
        "render",
        "render_eval",
        "memory_limit",
        "buffer_size",
        "random_exploration",
        "verbose",
        "tensorboard_log",
        "_init_setup_model",
        "policy_kwargs",
        "full_tensorboard_log",
        "seed",
        "n_cpu_tf_sess",
    )
    usual: ClassVar[Mapping[str, Any]] = {"n_cpu_tf_sess": 1}

    def accepted(self, given: dict[str, Any]) -> dict[str, Any]:
        """As in `OffPolicyRLModel`; `memory_limit` is a deprecated name of `buffer_size`."""
        if given["buffer_size"] == self.defaults()["buffer_size"] != given["memory_limit"]:
            replaced(given, "memory_limit", "buffer_size")
        return {**given, "memory_limit": None}  # files have both names

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `Constructed`, without evaluations; `memory_policy` may be a class of buffers."""
        memory = settings.get("memory_policy")
        if isinstance(memory, type):
            settings["memory_policy"] = _storage(memory)
        for name in _OF_EVALUATION:
            settings.pop(name, None)
        return settings

    def own_plugins(self) -> list[Any]:
        """The plugin that runs evaluations, if there is an environment for them."""
        env, n_steps, render = (self._given[name] for name in _OF_EVALUATION)
        return [] if env is None else [Evaluations(self, env, n_steps, render=render)]


def _storage(memory: type) -> str | None:
    """The name of rlk's storage for a buffer class.

    Raises:
        Refused: for a custom class, because rlk would not call it.
    """
    if memory not in _STORAGES:
        raise Refused(
            f"memory_policy is {memory.__name__}; it is ReplayBuffer or PrioritizedReplayBuffer of "
            "rlk_baselines.common.buffers here, or the name of a storage of rlk."
        )
    return _STORAGES[memory]
