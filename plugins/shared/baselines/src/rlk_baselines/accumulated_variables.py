"""The variables of callbacks that accumulate from step to step; they depend on the algorithm.

- `Collection`, lists with an entry per step of the collection so far: A2C, ACER, ACKTR, PPO2, and
  any on-policy model that learns from several environments;
- `Segment`, arrays as long as the whole collection, of one environment: GAIL, PPO1, TRPO;
- `Episodes`, the episodes of one environment: DDPG, DQN, SAC, TD3.

As in Stable Baselines, they include a step only after the callback was called for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rlk.records import Step
from rlk.running.clock import Clock
from rlk_baselines.callback_variables import Infos, Variables, is_gail
from rlk_baselines.collection_variables import Collection
from rlk_baselines.episode_variables import Episodes
from rlk_baselines.segment_variables import Segment

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run


class AccumulatedVariables(Protocol):
    """Variables for callbacks that accumulate from step to step."""

    def begin(self, run: Run) -> None: ...  #: called before every collection

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        """Add the accumulated variables to those of this step, before the callback is called."""
        ...

    def add(self, step: Step, infos: Infos) -> None: ...  #: this step, after the callback
    def rest(self, run: Run, losses: Means) -> Variables: ...  #: further ones, after the updates


def accumulated_for(model: Any, before: Clock) -> list[AccumulatedVariables]:
    """The variables that accumulate for the callbacks of a model; none, or one object.

    They begin in the middle of the episodes that an earlier call of `learn` left unfinished.

    Args:
        model: the model that learns.
        before: the clock when `learn` was called.
    """
    run = model.agent.run
    is_off_policy = run.plan.algorithm.component.collects == "off-policy"
    running = run.collector.state_dict()
    if model.learns_from_vectors or model.n_envs > 1:
        return [] if is_off_policy else [Collection(before, running["start"])]
    return_, length = float(running["returns"][0]), int(running["lengths"][0])
    if is_off_policy:
        return [Episodes(model.get_vec_normalize_env(), [return_], length)]
    segment = Segment(run, knows_rewards=not is_gail(model))
    segment.continue_episode(return_, length, is_start=bool(running["start"][0]))
    return [segment]
