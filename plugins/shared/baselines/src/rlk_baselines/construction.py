"""Makes a model's rlk agent from the arguments of the model's constructor, or from a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import attrs

import rlk
from rlk.abilities import AdoptsReplays, offers
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.making import from_state
from rlk.protocols import State
from rlk.running import checkpoint
from rlk_baselines import changed_settings, model_files
from rlk_baselines.arguments import Documented, bound, is_other, signature
from rlk_baselines.common import own_noise
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.vec_env import VecEnv
from rlk_baselines.environments.as_vec_env import as_vec_env
from rlk_baselines.environments.held import Held, held
from rlk_baselines.environments.training_vector import training_vector
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.learning import Watcher
from rlk_baselines.policies.chosen import held_kwargs, policy_settings, without_partial
from rlk_baselines.policies.registered import registered
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.without_effect import switched_by, with_effect
from rlk_mpi.world import several_launched

Model = TypeVar("Model", bound="Constructed")
#: Arguments that are not settings of the algorithm.
_ITS_OWN = (
    "policy",
    "verbose",
    "tensorboard_log",
    "full_tensorboard_log",
    "_init_setup_model",
    "policy_kwargs",
)
_RENAMED = {"seed": "seed", "n_cpu_tf_sess": "n_threads"}
#: Arguments that are also kept as attributes.
_ATTRIBUTES = ("policy_kwargs", "seed")
#: The key by which a file notes that the noise was an object of a custom class.
_OWN_NOISE = "own_noise"
_LOST_NOISE = (
    "the model was saved with an action_noise of a program's own class, which no file holds, and "
    "learns without noise now: pass it again, load(path, env=env, action_noise=…)."
)


class Constructed(metaclass=Documented):
    """The part of a model that makes its agent, from constructor arguments or from a file."""

    algo: ClassVar[str] = ""  #: the name of the algorithm in rlk
    names: ClassVar[tuple[str, ...]] = ()  #: its parameters after policy and env, in order
    usual: ClassVar[Mapping[str, Any]] = {}  #: defaults that differ from those of rlk's config
    learns_from_vectors: ClassVar[bool] = True  #: whether `get_env` returns a vector
    acts_deterministically: ClassVar[bool] = False  #: the default of `predict`'s `deterministic`
    trains_over_mpi: ClassVar[bool] = False  #: whether all ranks under mpirun train one model
    rows_every: ClassVar[int | None] = None  #: replaces the log_interval of `learn`, unless None

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        given = bound(type(self), arguments, keywords)
        with refused():
            env = given.pop("env")
            self._begin(given, None if env is None else as_vec_env(env))
            if given["_init_setup_model"]:
                self.setup_model()

    def _begin(self, given: dict[str, Any], env: VecEnv | None) -> None:
        """Set the initial attributes from the constructor's arguments, by name."""
        given = without_partial(given)
        self._agent: Agent | None = None
        self._is_learning = False
        self._before_change: dict[str, Any] = {}  # old values of changed attributes, until used
        self._given, self._env = given, env
        self._held: Held | None = None
        self.verbose: int = given["verbose"]
        self.policy_kwargs: dict[str, Any] = dict(given["policy_kwargs"] or {})
        self.tensorboard_log: str | None = given["tensorboard_log"]
        self.full_tensorboard_log: bool = given["full_tensorboard_log"]
        self.seed: int | None = given["seed"]
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
            self._take(self._made())
        self._seed_globally()

    def _seed_globally(self) -> None:
        """Seed the global generators, from which custom environments may draw.

        Every rank has its own seed, as in Stable Baselines' MPI scripts.
        """
        if self.seed is not None:
            rank = self.agent.run.communicator.rank
            set_global_seeds((self.seed + 10_000 * rank) % 2**32)

    def _made(self) -> Agent:
        """A new agent, from the constructor's arguments."""
        return rlk.make(
            self.algo,
            env=self._training_env(),
            plugins=[*self._plugins(), self._watcher],
            **self._settings(),
        )

    def _settings(self) -> dict[str, Any]:
        """The arguments that differ from their defaults, by rlk's names."""
        usual, given = self.defaults(), self._with_effect()
        own = {k: v for k, v in given.items() if k not in usual or is_other(v, usual[k])}
        return {**self.renamed(own), **self._policy_settings()}

    def _with_effect(self) -> dict[str, Any]:
        """The arguments, with defaults for those that have no effect beside the others."""
        return with_effect(self._learner(), self._given, self.defaults())

    def _changes(self, names: Iterable[str]) -> dict[str, Any]:
        """These arguments, and those whose effect depends on them, by rlk's names."""
        given = self._with_effect()
        concerned = {*names, *(switched_by(self._learner(), names) & self.defaults().keys())}
        return self.renamed({name: given[name] for name in concerned})

    def _learner(self) -> str:
        """The name in rlk of the algorithm that has these settings."""
        return self.algo

    def renamed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Constructor arguments by rlk's names, without those that only the model uses."""
        own = (*_ITS_OWN, *(["action_noise"] if self._has_own_noise() else []))
        settings = self.translated({k: v for k, v in given.items() if k not in own})
        return {_RENAMED.get(key, key): value for key, value in settings.items()}

    def _policy_settings(self) -> dict[str, Any]:
        return policy_settings(self._given["policy"], self.policy_kwargs)

    def _plugins(self) -> list[Any]:
        """The rlk plugins that the model activates."""
        found: list[Any] = ["mpi"] if self.trains_over_mpi and several_launched(os.environ) else []
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
        """Settings by the names of rlk's config, from constructor arguments; to be overridden."""
        return settings

    def arguments_of(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Constructor arguments, from the settings of rlk's config in a file; the reverse."""
        return settings

    def defaults(self) -> dict[str, Any]:
        """The defaults of the constructor's arguments after policy and env."""
        parameters = list(signature(type(self)).parameters.values())[2:]
        return {one.name: one.default for one in parameters}

    def about(self) -> dict[str, Any]:
        """The data that a file holds in addition to rlk's checkpoint, as JSON values and arrays."""
        model: Any = self
        found = model_files.about(model, held(self._env, self._held))
        return {**found, _OWN_NOISE: True} if self._has_own_noise() else found

    @classmethod
    def of_file(cls: type[Model], about: Mapping[str, Any]) -> Model:
        """An empty model, which `go_on` fills from a file; `about` is what `about()` returned."""
        return cls.__new__(cls)

    def go_on(self, saved: model_files.Saved, env: Any) -> None:
        """Fill an empty model from a saved one; `env` is its environment, or None."""
        vector = saved.awaited() if env is None else as_vec_env(env)
        model_files.refuse_other_actions(type(self).__name__, saved, vector)
        self._begin(saved.given, vector)
        settings = {"n_envs": vector.num_envs, **self._changes(saved.changes)}
        self._take(self._loaded(saved, settings))
        self._seed_globally()

    def _loaded(self, saved: model_files.Saved, settings: dict[str, Any]) -> Agent:
        """The agent from a file with these settings; a custom noise object is not in the file."""
        model_files.refuse_lost_functions(type(self).__name__, saved)
        is_registered = registered(self._given["policy"]) is not None
        if {"policy", "policy_kwargs"} & saved.changes.keys() or is_registered:
            settings = {**settings, **changed_settings.by_plan(self.algo, self._policy_settings())}
        had_own_noise = bool(saved.about.get(_OWN_NOISE))
        if had_own_noise:
            settings = {**settings, "noise": None}
        plugins = (*self._plugins(), self._watcher)
        agent = saved.agent(env=self._training_env(), plugins=plugins, **settings)
        if had_own_noise and "action_noise" not in saved.changes:
            agent.spec = attrs.evolve(agent.spec, lost=(*agent.spec.lost, _LOST_NOISE))
        return agent

    def _goes_on_from(self, old: VecEnv) -> bool:
        """Whether the agent can be kept when the environment `old` was replaced."""
        return self.n_envs == old.num_envs

    def _moved(self) -> Agent:
        """A new agent with the state of the current one, for the environment that was set."""
        return self._again(checkpoint.model_state(self.agent.run), {})

    def _again(self, state: State, changes: dict[str, Any]) -> Agent:
        """Replace the current agent by a new one, made from its state; the old one is closed.

        Args:
            state: the state of the current agent's run.
            changes: settings with new values, by rlk's names.
        """
        before = self.agent
        made = from_state(
            state,
            Path("the model"),
            env=self._training_env(),
            plugins=(*self._plugins(), self._watcher),
            n_envs=self.n_envs,
            **changed_settings.by_plan(self.algo, {**self._settings(), **changes}),
        )
        made.spec = attrs.evolve(made.spec, lost=self._still_lost(before.spec.lost, changes))
        if offers(before.run.storage, AdoptsReplays) and len(before.run.storage):
            checkpoint.adopt_replay(made.run, checkpoint.replay_state(before.run))
        before.close()
        return made

    def _still_lost(self, lost: Iterable[str], changes: Mapping[str, Any]) -> tuple[str, ...]:
        """The notes about things that a file did not hold, without those that were set since."""
        has_noise = self._given.get("action_noise") is not None
        about_changes = tuple(f"{key} was " for key in changes)
        kept = (one for one in lost if not one.startswith(about_changes))
        return tuple(one for one in kept if not (has_noise and one is _LOST_NOISE))

    def _training_env(self) -> Any:
        """The vector environment that rlk steps."""
        assert self._env is not None
        self._held = held(self._env, self._held)  # now, because programs close it before they save
        self._agent_env = training_vector(self._env, is_seeded=self.seed is not None)
        return self._agent_env

    def _take(self, agent: Agent) -> None:
        """Use this agent from now on."""
        model: Any = self
        self._agent, self._watcher.model = agent, model
        self._watcher.watch(agent.run, steps=False)

    @property
    def agent(self) -> Agent:
        """The rlk agent.

        Raises:
            ValueError: if the model is not set up, or an attribute was set to an invalid value.
        """
        if self._agent is None:
            raise Refused("this model was not set up yet: call setup_model().")
        if not self._is_learning:
            self._use_changes()
        return self._agent

    # ---- attributes ------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a hyperparameter, by its name in the constructor, is used from now on.

        Raises:
            ValueError: if it cannot be changed at all, or not while `learn` runs.
        """
        given = vars(self).get("_given", {})
        if name not in given or name in changed_settings.READ_BY_MODEL:
            object.__setattr__(self, name, value)
        elif self._agent is None:
            given[name] = value
            if name in _ATTRIBUTES:
                object.__setattr__(self, name, value)
        elif is_other(value, given[name]):
            self._change(name, value)

    @contextlib.contextmanager
    def _learning(self) -> Iterator[None]:
        """During `learn`, changed attributes do not replace the agent."""
        self._use_changes()
        self._is_learning = True
        try:
            yield
        finally:
            self._is_learning = False

    def _change(self, name: str, value: Any) -> None:
        """Change a constructor argument from now on."""
        kind, model = type(self).__name__, cast(Any, self)
        if name in changed_settings.FIXED:
            raise changed_settings.refusal(kind, name, "any more: the networks are made")
        if name == "seed":
            model.set_random_seed(value)
            return
        before = self._given[name]
        self._given[name] = value
        if not self._is_learning:
            self._before_change.setdefault(name, before)
            return
        try:
            with refused():
                settings = self.renamed({name: value})
                changed_settings.set_while_learning(kind, self.agent, name, settings)
        except BaseException:
            self._given[name] = before
            raise

    def _use_changes(self) -> None:
        """Replace the agent by one with the attributes that were set, if there are any.

        Raises:
            ValueError: if one of them is invalid; all of them then have their old values.
        """
        before, self._before_change = self._before_change, {}
        if not before:
            return
        try:
            with refused():
                changes = self._changes(before)
                state = changed_settings.everything_but_environments(self.agent, before, changes)
                self._take(self._again(state, changes))
        except BaseException as error:
            self._given |= before
            if not isinstance(error, RlkError):
                raise
            kind, names = type(self).__name__, ", ".join(before)
            raise Refused(f"{kind}: what {names} was set to cannot be used. {error}") from error

    def __getattr__(self, name: str) -> Any:
        """A hyperparameter, by its name in the constructor."""
        given = vars(self).get("_given", {})
        if name in given:
            return given[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{_why_not(name)}")

    @property
    def num_timesteps(self) -> int:
        """Timesteps trained so far, summed over all environments."""
        return 0 if self._agent is None else self._agent.num_timesteps

    @num_timesteps.setter
    def num_timesteps(self, value: int) -> None:
        self.agent.run.clock.timesteps = value

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
    if name == "rollout_buffer":
        return ": what it collects is in model.agent.run.storage"
    return ""
