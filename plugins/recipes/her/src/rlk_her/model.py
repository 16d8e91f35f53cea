"""Stable Baselines' `HER` class, around an agent."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import rlk
from rlk.agent import Place
from rlk_her.flat_goals import FlatGoals, HERGoalEnvWrapper

#: Stable Baselines' names of policies, for observations with goals: the settings of `multi-input`.
POLICIES: Mapping[str, Mapping[str, Any]] = {
    "MlpPolicy": {},
    "LnMlpPolicy": {"policy.layer_norm": True},
    "CnnPolicy": {},
    "LnCnnPolicy": {"policy.layer_norm": True},
}


class GoalSelectionStrategy(enum.StrEnum):
    """Which goals a transition can get in hindsight."""

    FUTURE = "future"  #: those reached after it in its episode
    FINAL = "final"  #: the one reached at the end of its episode
    EPISODE = "episode"  #: those reached anywhere in its episode
    RANDOM = "random"  #: those reached at any time


class HER:
    """An agent that learns by hindsight; it has all methods of `rlk.Agent`.

    Args:
        policy: `MlpPolicy` or another of Stable Baselines' names, or a policy of rlk that takes
            Dict observations.
        env: a goal environment, as `rlk.make` takes it, or one in a `HERGoalEnvWrapper`.
        model_class: the algorithm that learns, by its name (`"sac"`) or as a class of that name
            (`SAC`).
        n_sampled_goal: relabelled goals for every real one.
        goal_selection_strategy: how these goals are selected.
        settings: of the algorithm and of the run, as `rlk.make` takes them.

    Raises:
        PlanError: if a name is unknown or something does not fit, such as an environment without
            goals.
    """

    def __init__(
        self,
        policy: str,
        env: Any,
        model_class: str | type,
        n_sampled_goal: int = 4,
        goal_selection_strategy: GoalSelectionStrategy | str = "future",
        **settings: Any,
    ) -> None:
        chosen = {"policy": policy}
        if policy in POLICIES:
            chosen = {"policy": "multi-input", **POLICIES[policy]}
        self._agent = rlk.make(
            "her",
            env=_goal_env(env),
            model=model_class if isinstance(model_class, str) else model_class.__name__.lower(),
            n_sampled_goal=n_sampled_goal,
            goal_selection_strategy=str(goal_selection_strategy),
            **{**chosen, **settings},
        )

    @classmethod
    def load(cls, load_path: Place, env: Any = None, **changes: Any) -> HER:
        """Load a saved model; `changes` are those of `rlk.load`."""
        model = cls.__new__(cls)
        model._agent = rlk.load(load_path, env=_goal_env(env), **changes)
        return model

    def learn(self, total_timesteps: int | None = None, **keywords: Any) -> HER:
        """Train as `Agent.learn` does, and return this model."""
        self._agent.learn(total_timesteps, **keywords)
        return self

    def predict(self, observation: Any, *arguments: Any, **keywords: Any) -> tuple[Any, Any]:
        """As `Agent.predict`; also for rows of a `HERGoalEnvWrapper`."""
        return self._agent.predict(self._parts(observation), *arguments, **keywords)

    def action_probability(self, observation: Any, *arguments: Any, **keywords: Any) -> Any:
        """As `Agent.action_probability`; also for rows of a `HERGoalEnvWrapper`."""
        return self._agent.action_probability(self._parts(observation), *arguments, **keywords)

    def set_env(self, env: Any) -> None:
        """As `Agent.set_env`."""
        self._agent.set_env(_goal_env(env))

    def __getattr__(self, name: str) -> Any:
        """All other attributes are the agent's."""
        if name == "_agent":
            raise AttributeError(name)
        return getattr(self._agent, name)

    def __enter__(self) -> HER:
        return self

    def __exit__(self, *_: object) -> None:
        self._agent.close()

    def _parts(self, observation: Any) -> Any:
        if isinstance(observation, Mapping):
            return observation
        return FlatGoals(self._agent.plan.observation_space).parts(observation)


def _goal_env(env: Any) -> Any:
    """The goal environment inside a wrapper that concatenates its observations."""
    return env.env if isinstance(env, HERGoalEnvWrapper) else env
