"""`HER`: hindsight experience replay (Andrychowicz et al. 2017, arXiv 1707.01495)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import rlk_baselines
from rlk.agent import Agent
from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel
from rlk.spaces import describe
from rlk_baselines.arguments import Argument, bound, described
from rlk_baselines.common.vec_env import DummyVecEnv, VecEnv
from rlk_baselines.deepq.dueling import with_dueling
from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.environments.info_keys import as_list, keys_read
from rlk_baselines.environments.one import OneOfVector, vector_of_one
from rlk_baselines.her.awaited_goals import AwaitedGoals
from rlk_baselines.her.flat_goals import FlatGoals
from rlk_baselines.her.goal_env_wrapper import HERGoalEnvWrapper
from rlk_baselines.her.on_rows import DeferredOnRows
from rlk_baselines.models import OffPolicyRLModel
from rlk_baselines.policies.chosen import policy_settings
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.saved_models.model_files import Saved

#: Names of policies for observations with goals, which `multi-input` takes: its settings.
_POLICIES: Mapping[str, Mapping[str, Any]] = {
    "MlpPolicy": {},
    "LnMlpPolicy": {"policy.layer_norm": True},
    "CnnPolicy": {},
    "LnCnnPolicy": {"policy.layer_norm": True},
}
#: The arguments that HER has beside those of its `model_class`.
_OWN = ("n_sampled_goal", "goal_selection_strategy", "info_keys")


class HER(OffPolicyRLModel):
    """Hindsight experience replay with DQN, SAC, TD3 or DDPG.

    Args:
        policy: the name of a policy, or a class. A class is given flat observations, as those of
            a `HERGoalEnvWrapper`.
        env: a goal environment, its id, or one in a `HERGoalEnvWrapper`.
        model_class: DQN, SAC, TD3 or DDPG of this package, or its name.
        n_sampled_goal: the number of transitions with a hindsight goal per real one.
        goal_selection_strategy: `future`, `final`, `episode` or `random`, or one of
            `GoalSelectionStrategy`.
        info_keys: the keys of `info` that `compute_reward` reads. Their values must be numbers; a
            step may lack one that is read by `get` or `in`. None finds the keys that it reads by
            name, in any of these ways.
        args, kwargs: arguments of `model_class`.

    Raises:
        ValueError: if something does not exist, or does not fit the rest.
    """

    algo = "her"
    model_class: Any

    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        model_class: type[OffPolicyRLModel] | str,
        n_sampled_goal: int = 4,
        goal_selection_strategy: Any = "future",
        *args: Any,
        info_keys: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        with refused():
            self.model_class = _model_class(model_class)
            given = bound(self.model_class, (policy, env, *args), kwargs)
            given |= {
                "n_sampled_goal": n_sampled_goal,
                "goal_selection_strategy": str(goal_selection_strategy),
                "info_keys": as_list(info_keys),
            }
            self._set_initial(given, _goal_vector(given.pop("env")))
            if given["_init_setup_model"]:
                self.setup_model()

    arguments: ClassVar = {name: one for name, one in described(__init__).items() if name in _OWN}

    def _new_agent(self) -> Agent:
        space = self.observation_space
        if not {"achieved_goal", "desired_goal"} <= {*getattr(space, "spaces", ())}:
            raise Refused(
                "HER needs an environment with goals, whose observations are a Dict with "
                f"observation, achieved_goal and desired_goal, not {describe(space)}."
            )
        if self._given["info_keys"] is None:
            self._given["info_keys"] = keys_read(self._env, self.observation_space)
        return super()._new_agent()

    def asked(self) -> dict[str, Any]:
        """As in `Constructed`, with the recipe's `model`."""
        return {**super().asked(), "model": self.model_class.algo}

    @property
    def trains_over_mpi(self) -> bool:  # type: ignore[override]
        """Whether all ranks under mpirun train one model, as with `model_class` alone."""
        return bool(self.model_class.trains_over_mpi)

    @property
    def counts_collections(self) -> bool:  # type: ignore[override]
        """As in `model_class`."""
        return bool(self.model_class.counts_collections)

    @property
    def step_model(self) -> Any:
        """The policy of `model_class`, for single steps."""
        return self.model_class.stepped(self)

    policy_tf = step_model

    @property
    def model(self) -> HER:
        """This model; Stable Baselines returns an inner model of `model_class`."""
        return self

    def _by_plan(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `Constructed`; `her` is a recipe, and a plan has its components."""
        recipe = default_kernel().registries.recipes.get(self.algo).component()
        targets = dict(recipe.forwarded())
        return {targets.get(key, key): value for key, value in settings.items()}

    def _policy_settings(self) -> dict[str, Any]:
        given, kwargs = self._given["policy"], self.policy_kwargs
        found = policy_settings(given, kwargs, self._dimensions(), DeferredOnRows)
        if isinstance(found["policy"], str) and found["policy"] in _POLICIES:
            found = {**_POLICIES[found["policy"]], **found, "policy": "multi-input"}
        return with_dueling(found, self.observation_space)

    def _arguments(self) -> Mapping[str, Argument]:
        """As in `Constructed`: those of `model_class`, and three of its own."""
        return {**self.model_class.arguments, **self.arguments}

    def awaited_spaces(self, like: VecEnv) -> tuple[Any, Any]:
        """As in `OffPolicyRLModel`; observations may be flat, as from a `HERGoalEnvWrapper`."""
        observation, action = super().awaited_spaces(like)
        is_flat = not hasattr(like.observation_space, "spaces")
        return (FlatGoals(observation).space if is_flat else observation), action

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        return self.model_class.own_constants(self, total_timesteps)

    def own_plugins(self) -> list[Any]:
        return self.model_class.own_plugins(self)

    # ---- learning and acting ---------------------------------------------------------------------

    def predict(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        deterministic: bool | None = True,
    ) -> tuple[Any, Any]:
        """As `BaseRLModel.predict`; observations may be flat, as from a `HERGoalEnvWrapper`."""
        return super().predict(self._parts(observation), state, mask, deterministic)

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """As in `model_class`; observations may be flat, as from a `HERGoalEnvWrapper`."""
        parts = self._parts(observation)
        return self.model_class.action_probability(self, parts, state, mask, actions, logp)

    def replay_buffer_add(
        self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
    ) -> None:
        """As in `model_class`; observations may be flat, as from a `HERGoalEnvWrapper`."""
        before, after = self._parts(obs_t), self._parts(obs_tp1)
        super().replay_buffer_add(before, action, reward, after, done, info)

    def _parts(self, observation: Any) -> Any:
        if isinstance(observation, Mapping):
            return observation
        return FlatGoals(self.observation_space).parts(observation)

    # ---- the environment and files ---------------------------------------------------------------

    def _awaited_env(self) -> Any:
        vector: Any = self._env
        is_awaited = vector is not None and isinstance(vector.envs[0], AwaitedGoals)
        return vector.envs[0] if is_awaited else None

    def set_env(self, env: Any) -> None:
        """Learn from another goal environment from now on."""
        with refused():
            super().set_env(_goal_vector(env))

    def about(self) -> dict[str, Any]:
        own = {name: self._given[name] for name in _OWN}
        return {**super().about(), "model_class": self.model_class.__name__, "own": own}

    @classmethod
    def of_file(cls, about: Mapping[str, Any]) -> Self:
        model = cls.__new__(cls)
        model.model_class = _model_class(getattr(rlk_baselines, str(about["model_class"]), None))
        return model

    def load_from(self, saved: Saved, env: Any) -> None:
        own = saved.about["own"]
        saved.given.update({k: v for k, v in own.items() if k not in saved.changes})
        vector = _vector_of_file(saved) if env is None else _goal_vector(env)
        super().load_from(saved, vector)
        if self._awaited_env() is not None:
            # A file that is written from this model names the same environment.
            self._env_id = saved.about["env_id"]


def _model_class(asked: Any) -> Any:
    """The model class for `model_class`, which may be its name.

    Raises:
        Refused: if it is not DQN, SAC, TD3 or DDPG of this package.
    """
    if isinstance(asked, str):
        asked = getattr(rlk_baselines, asked.upper(), None)
    if not (isinstance(asked, type) and issubclass(asked, OffPolicyRLModel)) or asked is HER:
        raise Refused("model_class must be DQN, SAC, TD3 or DDPG.")
    if "replay_buffer_class" in asked.arguments:
        name, package = asked.__name__, asked.__module__.partition(".")[0]
        raise Refused(
            f"{name} of {package} learns by hindsight without HER: {name}"
            "('MultiInputPolicy', env, replay_buffer_class=HerReplayBuffer, "
            "replay_buffer_kwargs=dict(n_sampled_goal=4, goal_selection_strategy='future')); "
            f"or take {name} of rlk_baselines."
        )
    return asked


def _vector_of_file(saved: Saved) -> DummyVecEnv:
    """The environment of the id in a file; a placeholder if there is none, or it is not made."""
    awaited = saved.awaited()
    spaces, reason = (awaited.observation_space, awaited.action_space), ""
    try:
        made = _goal_vector(awaited.env_id)
    except PlanError as error:
        made, reason = None, str(error)
    return DummyVecEnv([lambda: AwaitedGoals(*spaces, reason)]) if made is None else made


def _goal_vector(env: Any) -> DummyVecEnv | None:
    """A vector of one goal environment, from an id, an environment or a vector of one; or None.

    The vector's attribute `one`, which `get_env` returns, is the environment that was passed, or
    the one in the vector.

    Raises:
        Refused: for a vector of several environments, or one with a wrapper around it.
    """
    given = _the_one(env) if isinstance(env, VecEnv) else env
    inner = given
    while isinstance(inner, HERGoalEnvWrapper):
        inner = inner.env
    if inner is None:
        return None
    if isinstance(inner, OneOfVector):
        vector, own = inner.vector, inner
    else:
        vector = vector_of_one(make_by_id(inner) if isinstance(inner, str) else inner)
        own = vector.one
    vector.one = own if inner is given else given
    return vector


def _the_one(venv: Any) -> Any:
    """The environment of a vector of one.

    Raises:
        Refused: for several environments, and for a wrapper of the vector, which has no part in
            what the environment inside does.
    """
    envs: Any = getattr(venv.unwrapped, "envs", ())
    if venv.unwrapped is not venv:
        raise Refused(
            f"HER learns from one environment, and {type(venv).__name__} around a vector of it "
            "would have no effect: pass the environment without it."
        )
    if len(envs) != 1:
        raise Refused("HER learns from one environment: pass it, instead of a vector.")
    return envs[0]
