"""Makes a model's rlk agent from the arguments of the model's constructor, or from a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import rlk
from rlk.agent import Agent
from rlk.making import from_state
from rlk.protocols import State
from rlk_baselines import changing
from rlk_baselines.argument_types import Folder
from rlk_baselines.arguments import (
    Argument,
    bound,
    by_current_names,
    is_other,
    plain_number,
)
from rlk_baselines.common import own_noise
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.vec_env import VecEnv
from rlk_baselines.environments.as_vec_env import as_vec_env, env_id
from rlk_baselines.environments.training_vector import training_vector
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.learning import Watcher
from rlk_baselines.policies.chosen import Dimensions, held_kwargs, policy_settings
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.saved_models import model_files
from rlk_baselines.without_effect import with_effect
from rlk_mpi.world import several_launched


class Constructed:
    """The part of a model that makes its agent, from constructor arguments or from a file."""

    algo: ClassVar[str] = ""  #: the name of the algorithm in rlk
    #: The constructor's arguments after policy and env, by name, in order.
    arguments: ClassVar[Mapping[str, Argument]] = {}
    learns_from_vectors: ClassVar[bool] = True  #: whether `get_env` returns a vector
    acts_deterministically: ClassVar[bool] = False  #: the default of `predict`'s `deterministic`
    trains_over_mpi: ClassVar[bool] = False  #: whether all ranks under mpirun train one model
    rows: ClassVar[int] = 100  #: the default of the `log_interval` of `learn`
    rows_every: ClassVar[int | None] = None  #: replaces the log_interval of `learn`, unless None
    #: Whether it is trained with the other ranks already. One rank alone may load a model and play
    #: it, so a loaded model joins the others when it learns.
    _is_joined = True

    # Arguments of every model, which `__getattr__` reads, as all others.
    gamma: float
    verbose: int
    policy_kwargs: dict[str, Any]
    tensorboard_log: Folder | None
    full_tensorboard_log: bool
    seed: int | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.arguments = getattr(vars(cls).get("__init__"), "arguments", cls.arguments)

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._construct(bound(type(self), arguments, keywords))

    @classmethod
    def _refuse_class(cls) -> None:
        """Raise Refused for a class without an algorithm, of which there are no models."""
        if not cls.algo:
            raise Refused(
                f"{cls.__name__} has no algorithm of rlk to learn by. Derive the class from a "
                "model, such as A2C, or write a custom algorithm as a plugin: "
                "rlk plugins new NAME --kind algorithm."
            )

    def _construct(self, given: dict[str, Any]) -> None:
        """Make the model from the constructor's arguments, by name."""
        with refused():
            env = given.pop("env")
            self._set_initial(given, None if env is None else as_vec_env(env))
            if given["_init_setup_model"]:
                self.setup_model()

    def _set_initial(self, given: dict[str, Any], env: VecEnv | None) -> None:
        """Set the initial attributes from the constructor's arguments, by name."""
        given = {name: plain_number(value) for name, value in given.items()}
        self._agent: Agent | None = None
        self._is_learning = False
        self._before_change: dict[str, Any] = {}  # old values of changed attributes, until used
        given["policy_kwargs"] = dict(given["policy_kwargs"] or {})
        self._given, self._env = given, env
        self._env_id: str | None = None
        self._watcher = Watcher()
        self._unvectorized: Unvectorized | None = None

    def setup_model(self) -> None:
        """Make the networks and everything else that training needs.

        Raises:
            ValueError: if there is no environment, or a setting is invalid.
        """
        if self._env is None:
            raise Refused(
                f"{type(self).__name__} needs an environment: pass env, or call set_env(env) first."
            )
        with refused():
            self._use(self._new_agent())
        self._seed_globally()

    def _seed_globally(self) -> None:
        """Seed the global generators, from which custom environments may draw.

        Every rank has its own seed, as in Stable Baselines' MPI scripts.
        """
        if self.seed is not None:
            rank = self.agent.run.communicator.rank
            set_global_seeds((self.seed + 10_000 * rank) % 2**32)

    def _new_agent(self) -> Agent:
        """A new agent, from the constructor's arguments."""
        asked = self.asked()
        plugins = [*asked.pop("plugins"), self._watcher]
        return rlk.make(self.algo, env=self._training_env(), plugins=plugins, **asked)

    def asked(self) -> dict[str, Any]:
        """The keywords of `rlk.make` that the constructor's arguments mean, without `env`.

        Raises:
            Refused: for a value that is not supported.
        """
        return {"plugins": self._plugins(), **self._settings()}

    def _agent_of_state(self, state: State, path: Path, settings: dict[str, Any]) -> Agent:
        """An agent from the state that `path` holds; `settings`, by rlk's names, are changed."""
        return from_state(
            state,
            path,
            env=self._training_env(),
            plugins=(*self._plugins(), self._watcher),
            n_envs=self.n_envs,
            **self._by_plan(settings),
        )

    def _settings(self) -> dict[str, Any]:
        """The arguments that differ from their defaults, by rlk's names."""
        usual, given = self.defaults(), self._with_effect()
        own = {k: v for k, v in given.items() if k not in usual or is_other(v, usual[k])}
        return {**self.renamed(own), **self._policy_settings()}

    def _with_effect(self, names: Collection[str] | None = None) -> dict[str, Any]:
        """The arguments, with defaults for those that have no effect beside the others.

        Args:
            names: the only ones to look at, and to warn of; None means all.
        """
        known = self._arguments()
        looked_at = known if names is None else {k: v for k, v in known.items() if k in names}
        return with_effect(self._given, looked_at)

    def _changes(self, names: Iterable[str]) -> dict[str, Any]:
        """These arguments, and those whose effect depends on them, by rlk's names."""
        wanted, known = {*names}, self._arguments().values()
        wanted |= {one.name for one in known if one.needs and one.needs.switch in wanted}
        given = self._with_effect(wanted)
        return self.renamed({name: given[name] for name in wanted})

    def _arguments(self) -> Mapping[str, Argument]:
        """The constructor's arguments after policy and env, by name."""
        return self.arguments

    def _argument(self, name: str) -> Argument:
        """The argument of this name, or a plain one for `policy` and the keys of `translated`."""
        return self._arguments().get(name, Argument(name))

    def defaults(self) -> dict[str, Any]:
        """The defaults of the constructor's arguments after policy and env."""
        return {name: one.default for name, one in self._arguments().items()}

    def renamed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Constructor arguments by rlk's names, without those that only the model uses.

        Raises:
            Refused: for a value that is not supported.
        """
        own = {"policy", *(["action_noise"] if self._has_own_noise() else [])}
        for name, one in self._arguments().items():
            if one.only and given.get(name, one.default) != one.default:
                raise Refused(f"{type(self).__name__}: {name} is {one.default!r} here. {one.only}")
            if one.rlk is None:
                own.add(name)
        settings = self.translated({k: v for k, v in given.items() if k not in own})
        return dict(self._argument(key).setting(value) for key, value in settings.items())

    def _by_plan(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings by the keys of a plan, from those of `rlk.make`; they differ for a recipe."""
        return settings

    def _policy_settings(self) -> dict[str, Any]:
        return policy_settings(self._given["policy"], self.policy_kwargs, self._dimensions())

    def _dimensions(self) -> Dimensions:
        """What the constructor of a policy class is told of the model."""
        n_steps = self._given.get("n_steps", 1)  # checked before a policy is made
        return Dimensions(self._space("action"), self.n_envs or 1, n_steps)

    def _plugins(self) -> list[Any]:
        """The rlk plugins that the model activates."""
        found: list[Any] = []
        if self._has_other_ranks():
            found.append("mpi" if self._is_joined else "no:mpi")
        if self._has_own_noise():
            found.append(own_noise.component_of(self._given["action_noise"]))
        return found

    def _has_own_noise(self) -> bool:
        """Whether `action_noise` is an object of a custom class, which has to be called."""
        return own_noise.is_own(self._given.get("action_noise"))

    def held_policy_kwargs(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """`policy_kwargs` as they are saved in a file."""
        return held_kwargs(kwargs)

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Constructor arguments, with settings of rlk for those that depend on each other."""
        return settings

    def arguments_of(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Constructor arguments, from the settings in a file, by rlk's keys."""
        current = [one for one in self._arguments().values() if not one.deprecated_for]
        return {one.name: settings[one.rlk] for one in current if one.rlk and one.rlk in settings}

    def about(self) -> dict[str, Any]:
        """The data that a file holds in addition to rlk's checkpoint, as JSON values and arrays."""
        return model_files.about(self)

    @classmethod
    def of_file(cls, about: Mapping[str, Any]) -> Self:
        """An empty model, for `load_from` to fill; `about` is what `about()` returned."""
        return cls.__new__(cls)

    def load_from(self, saved: model_files.Saved, env: Any) -> None:
        """Fill an empty model from a saved one; `env` is its environment, or None."""
        vector = saved.awaited() if env is None else as_vec_env(env)
        model_files.refuse_other_spaces(type(self).__name__, saved, vector)
        self._set_initial(saved.given, vector)
        self._use(saved.agent(self))
        self._seed_globally()

    def join_ranks(self) -> None:
        """Learn together with the other ranks from now on, where they train one model."""
        if self._is_joined:
            return
        self._is_joined = True
        if self._has_other_ranks():
            changing.rebuild(self)
            self._seed_globally()

    def _has_other_ranks(self) -> bool:
        """Whether mpirun started several ranks that train one model."""
        return self.trains_over_mpi and several_launched(os.environ)

    def _can_keep_agent(self, old: VecEnv) -> bool:
        """Whether the agent can be kept when the environment `old` was replaced."""
        return self.n_envs == old.num_envs

    def _training_env(self) -> Any:
        """The vector environment that rlk steps."""
        assert self._env is not None
        self._env_id = env_id(self._env)  # now, because programs close it before they save
        self._agent_env = training_vector(self._env, is_seeded=self.seed is not None)
        return self._agent_env

    def _use(self, agent: Agent) -> None:
        """Use this agent from now on."""
        model: Any = self
        self._agent, self._watcher.model = agent, model

    @property
    def agent(self) -> Agent:
        """The rlk agent.

        Raises:
            ValueError: if the model is not set up, or an attribute was set to an invalid value.
        """
        if self._agent is None:
            raise Refused("this model was not set up yet: call setup_model().")
        if not self._is_learning:
            changing.use_changes(self)
        return self._agent

    # ---- attributes ------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a hyperparameter, by its name in the constructor, is used from now on.

        Raises:
            ValueError: if it cannot be changed at all, or not while `learn` runs.
        """
        given = vars(self).get("_given", {})
        if name not in given:
            object.__setattr__(self, name, value)
            return
        changes = by_current_names({name: plain_number(value)}, self._arguments().values())
        for current, new in changes.items():
            if self._agent is None or self._argument(current).change == "read":
                given[current] = new
            elif is_other(new, given[current]):
                self._change(current, new)

    @contextlib.contextmanager
    def _learning(self) -> Iterator[None]:
        """During `learn`, changed attributes do not replace the agent."""
        changing.use_changes(self)
        self._is_learning = True
        try:
            yield
        finally:
            self._is_learning = False

    def _change(self, name: str, value: Any) -> None:
        """Change a constructor argument from now on; to be overridden."""
        changing.change(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """A hyperparameter, by its name in the constructor."""
        given = vars(self).get("_given", {})
        if name in given:
            return given[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{_why_not(name)}")

    def __dir__(self) -> Iterable[str]:
        return {*super().__dir__(), *vars(self).get("_given", {})}

    @property
    def num_timesteps(self) -> int:
        """Timesteps trained so far, summed over all environments."""
        return 0 if self._agent is None else self._agent.num_timesteps

    @num_timesteps.setter
    def num_timesteps(self, value: int) -> None:
        clock = self.agent.run.clock
        clock.earlier_timesteps += max(0, clock.timesteps - value)  # `cumulative_timesteps` stays
        clock.timesteps = value

    @property
    def observation_space(self) -> Any:
        """The observation space of one environment; None if the model has no environment yet."""
        return self.agent.plan.observation_space if self._agent else self._space("observation")

    @property
    def action_space(self) -> Any:
        """The action space of one environment; None if the model has no environment yet."""
        return self.agent.plan.action_space if self._agent else self._space("action")

    def _space(self, which: str) -> Any:
        return None if self._env is None else getattr(self._env, f"{which}_space")

    @property
    def n_envs(self) -> int | None:
        """The number of environments, or None if there are none yet."""
        return None if self._env is None else self._env.num_envs

    @property
    def ep_info_buf(self) -> list[dict[str, float]]:
        """The return `r` and length `l`, in steps, of the latest episodes, the newest last."""
        recent = self.agent.run.metrics.recent_episodes
        return [{"r": return_, "l": length} for return_, length in recent]


def _why_not(name: str) -> str:
    """A hint for the error about an attribute that only models of Stable Baselines have, or ""."""
    if name in ("sess", "graph", "params", "summary"):
        return ": it belongs to TensorFlow. The policy as a torch module is model.agent.run.policy"
    return ""
