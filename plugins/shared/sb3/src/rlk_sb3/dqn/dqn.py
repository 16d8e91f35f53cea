"""`DQN`: deep Q-network (Mnih et al. 2013, arXiv 1312.5602)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from rlk import spaces
from rlk_baselines.argument_types import Folder, Keywords, Schedulable, TrainFreq
from rlk_baselines.arguments import Argument, Rate, constructor
from rlk_baselines.refusals import Refused
from rlk_sb3.algorithm import LAST, Device
from rlk_sb3.common.off_policy_algorithm import REPLAY, OffPolicyAlgorithm
from rlk_sb3.common.utils.schedules import LinearSchedule, get_linear_fn
from rlk_sb3.dqn.policies import DQNPolicy
from rlk_sb3.policy_view import QView
from rlk_sb3.saved import names
from rlk_sb3.saved.loading import FilesOfSB3


class DQN(OffPolicyAlgorithm):
    """Deep Q-network (Mnih et al. 2013, arXiv 1312.5602).

    Its parameters are those of Stable-Baselines3; it trains with rlk's `dqn`. As in
    Stable-Baselines3, it is neither double nor dueling.
    """

    algo = "dqn"
    foreign_files = FilesOfSB3(names.DQN)
    viewed = QView
    policy_aliases: ClassVar[dict[str, Any]] = {
        **OffPolicyAlgorithm.policy_aliases,
        "MlpPolicy": DQNPolicy,
    }
    fixed: ClassVar[Mapping[str, Any]] = {"double_q": False, "dueling": False}
    exploration_initial_eps: float
    exploration_final_eps: float
    exploration_fraction: float
    _rate_set: tuple[float, int] | None = None  #: a rate that was set, after which collection

    @constructor(
        Argument("learning_rate", change=Rate(("q",))),
        *REPLAY,
        Argument("target_update_interval", rlk="target_network_update_freq"),
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.0001,
        buffer_size: int = 1_000_000,
        learning_starts: int = 100,
        batch_size: int = 32,
        tau: float = 1.0,
        gamma: float = 0.99,
        train_freq: TrainFreq = 4,
        gradient_steps: int = 1,
        replay_buffer_class: type[Any] | None = None,
        replay_buffer_kwargs: Keywords | None = None,
        optimize_memory_usage: bool = False,
        n_steps: int = 1,
        target_update_interval: int = 10_000,
        exploration_fraction: float = 0.1,
        exploration_initial_eps: float = 1.0,
        exploration_final_eps: float = 0.05,
        max_grad_norm: float | None = 10.0,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

    @property
    def q_net(self) -> Callable[[Any], Any]:
        """The Q function: see `policy.q_net`."""
        return self.policy.q_net

    @property
    def exploration_schedule(self) -> Callable[[float], float]:
        """The exploration rate as a function of the remaining fraction of the training, 1 to 0."""
        given = self._given
        ends = given["exploration_initial_eps"], given["exploration_final_eps"]
        return get_linear_fn(*ends, given["exploration_fraction"])

    @exploration_schedule.setter
    def exploration_schedule(self, value: Callable[[float], float]) -> None:
        if not isinstance(value, LinearSchedule):
            raise Refused(
                "DQN.exploration_schedule falls linearly: set it to get_linear_fn(start, end, "
                f"end_fraction) of common.utils, not to {value!r:.80}."
            )
        self.exploration_initial_eps = value.start
        self.exploration_final_eps = value.end
        self.exploration_fraction = value.end_fraction

    @property
    def exploration_rate(self) -> float:
        """The current probability of a random action; 0 before the first timestep.

        It may be set for `predict`; `learn` continues with that of its schedule.
        """
        if (rate := self._set_rate()) is not None:
            return rate
        if self.num_timesteps == 0:
            return 0.0
        return float(self.agent.run.actor.metrics()["rollout/exploration_rate"])

    @exploration_rate.setter
    def exploration_rate(self, value: float) -> None:
        self._rate_set = float(value), self.agent.run.clock.iterations

    def _set_rate(self) -> float | None:
        """The rate that the program has set since the latest collection, or None."""
        rate, iteration = self._rate_set or (None, None)
        return rate if iteration == self.agent.run.clock.iterations else None

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `OffPolicyAlgorithm`; all actions are random before `learning_starts`."""
        found = super().translated(settings)
        if "learning_starts" in found:
            found["epsilon-greedy.warm_up"] = found["learning_starts"]
        return found

    def _act(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> tuple[Any, Any]:
        """As in Stable-Baselines3, one draw decides whether all actions of a batch are random."""
        rng = self.agent.run.streams.numpy("predict")
        if deterministic or rng.random() >= self.exploration_rate:
            return self.agent.predict(observation, state, mask, deterministic=True)
        batch, was_batched = spaces.batched(self.observation_space, observation)
        size = spaces.batch_size(batch)
        actions = self.action_space.start + rng.integers(self.action_space.n, size=size)
        return (actions if was_batched else actions[0]), None
