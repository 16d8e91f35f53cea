"""`DDPG`: deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971)."""

from __future__ import annotations

import math
from typing import Any

from rlk.planning.other_environment import check_same_spaces
from rlk.restoring.saved_spaces import same_sizes
from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import LAST, WHOLE, Argument, Needed, Rate, constructor
from rlk_baselines.common.buffers import PrioritizedReplayBuffer, ReplayBuffer
from rlk_baselines.common.noise import AdaptiveParamNoiseSpec
from rlk_baselines.ddpg.evaluations import Evaluations
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.environments.spaces import planned_spaces
from rlk_baselines.models import DeterministicModel, OffPolicyRLModel
from rlk_baselines.noise_objects import ShownStrength
from rlk_baselines.policies.stepping import ValuedStep
from rlk_baselines.refusals import Refused
from rlk_expert_data.arguments import checked_count

#: Arguments about evaluations.
_OF_EVALUATION = ("eval_env", "nb_eval_steps", "render_eval")
#: Buffer classes -> the storage of rlk that is used; None means the default one.
_STORAGES = {ReplayBuffer: None, PrioritizedReplayBuffer: "prioritized-replay"}

#: The conditions for arguments to have an effect.
_EVALUATION = Needed("eval_env", "…", lambda env: env is not None)


def _is_adaptive(noise: Any) -> bool:
    text = noise.as_setting() if hasattr(noise, "as_setting") else noise
    return str(text).partition(":")[0] == "adaptive-parameter-noise"


_NOISE = Needed("param_noise", "AdaptiveParamNoiseSpec(…)", _is_adaptive)


def _storage(memory: Any) -> Any:
    """The name of rlk's storage for a buffer class; anything else is returned as it is.

    Raises:
        Refused: for a custom class, because rlk would not call it.
    """
    if not isinstance(memory, type):
        return memory
    if memory not in _STORAGES:
        raise Refused(
            f"memory_policy is {memory.__name__}; it is ReplayBuffer or PrioritizedReplayBuffer of "
            "rlk_baselines.common.buffers here, or the name of a storage of rlk."
        )
    return _STORAGES[memory]


class DDPG(DeterministicModel):
    """Deep deterministic policy gradient (Lillicrap et al. 2015, arXiv 1509.02971).

    Its parameters are those of the plugin `ddpg`, which the README of rlk-ddpg describes; and
    `eval_env`, `nb_eval_steps` and `render_eval` for evaluations.
    """

    algo = "ddpg"
    has_cnns_apart = True
    trains_over_mpi = True
    counts_collections = True
    stepped = ValuedStep

    @constructor(
        Argument("memory_policy", convert=_storage),
        Argument("eval_env", rlk=None),
        Argument("nb_eval_steps", rlk=None, type=WHOLE, is_held=True, needs=_EVALUATION),
        Argument("normalize_observations", change="refuse"),
        Argument("param_noise_adaption_interval", needs=_NOISE),
        Argument("enable_popart", needs=Needed("normalize_returns", "True")),
        Argument("actor_lr", change=Rate(("actor",))),
        Argument("critic_lr", change=Rate(("critic",))),
        Argument("render_eval", rlk=None, is_held=True, needs=_EVALUATION),
        Argument("memory_limit", deprecated_for="buffer_size"),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        gamma: float = 0.99,
        memory_policy: Any = None,
        eval_env: Any = None,
        nb_train_steps: int = 50,
        nb_rollout_steps: TrainFreq = 100,
        nb_eval_steps: int = 100,
        param_noise: Any = None,
        action_noise: Any = None,
        normalize_observations: bool = False,
        tau: float = 0.001,
        batch_size: int = 128,
        param_noise_adaption_interval: int = 50,
        normalize_returns: bool = False,
        enable_popart: bool = False,
        observation_range: tuple[float, float] = (-5.0, 5.0),
        critic_l2_reg: float = 0.0,
        return_range: tuple[float, float] = (-math.inf, math.inf),
        actor_lr: Schedulable = 0.0001,
        critic_lr: Schedulable = 0.001,
        clip_norm: float | None = None,
        reward_scale: float = 1.0,
        render: bool = False,
        render_eval: bool = False,
        memory_limit: int | None = None,
        buffer_size: int = 50_000,
        random_exploration: float = 0.0,
        verbose: int = 0,
        tensorboard_log: Folder | None = None,
        _init_setup_model: bool = True,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        return {"rank": self.agent.run.communicator.rank}

    def own_plugins(self) -> list[Any]:
        """Plugins that evaluate, and that show the strength of the noise, if they are asked for."""
        noise = self._given["param_noise"]
        shown = [ShownStrength(noise)] if isinstance(noise, AdaptiveParamNoiseSpec) else []
        return [*shown, *evaluations(self, *(self._given[name] for name in _OF_EVALUATION))]


def evaluations(model: OffPolicyRLModel, env: Any, n_steps: int, render: bool) -> list[Evaluations]:
    """The plugin that runs evaluations, if there is an environment for them.

    Raises:
        PlanError: if the environment has observations of another kind or size than the model, or
            other actions, or for a wrong `n_steps`.
    """
    if env is None:
        return []
    n_steps = checked_count("nb_eval_steps", n_steps, least=0)
    vector = as_vec_env(env)
    (seen, acted), (observation, action) = planned_spaces(vector), model.awaited_spaces(vector)
    if same_sizes(seen, observation):  # all that acting needs
        seen = observation
    check_same_spaces("eval_env", (seen, acted), (observation, action))
    return [Evaluations(model, vector, n_steps, render=render)]
