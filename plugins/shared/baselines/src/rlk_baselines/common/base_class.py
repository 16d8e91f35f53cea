"""`BaseRLModel`: what all models of Stable Baselines have in common, in front of an rlk agent."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, TypeVar

import attrs
import numpy as np

import rlk
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.making import from_state
from rlk.protocols import State
from rlk.records import Array
from rlk.settings import plain
from rlk_baselines import model_files
from rlk_baselines.arguments import Documented, bound, signature
from rlk_baselines.common.callbacks import BaseCallback, as_callback
from rlk_baselines.common.vec_env import VecEnv, VecNormalize, unwrap_vec_normalize
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv, as_vec_env
from rlk_baselines.environments.spaces import space_state
from rlk_baselines.environments.training_vector import BareVector, WrappedVector, training_vector
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.learning import Call, Watcher
from rlk_baselines.policies.chosen import policy_settings
from rlk_baselines.policies.registered import registered
from rlk_baselines.refusals import ParametersDoNotFit, Refused, refused
from rlk_baselines.tensorboard import ScalarWriter, folder_of_run

Model = TypeVar("Model", bound="BaseRLModel")
Callback = BaseCallback | Callable[..., Any] | list[Any] | None
#: Arguments that are no settings of the algorithm.
_ITS_OWN = (
    "policy",
    "verbose",
    "tensorboard_log",
    "full_tensorboard_log",
    "_init_setup_model",
    "policy_kwargs",
)
_NOTHING = object()
_RENAMED = {"seed": "seed", "n_cpu_tf_sess": "n_threads"}


class Variable(NamedTuple):
    """A parameter of a model: `get_parameter_list` gives TensorFlow's variables there."""

    name: str
    value: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
        return tuple(self.value.shape)


class BaseRLModel(metaclass=Documented):
    """A policy with everything that trains it.

    Args:
        policy: its name, or a class.
        env: an environment of gym's interface or Gymnasium's, a vector of them, or an id. None is
            for a model that is only set up later.
        arguments, keywords: those of the class's documented signature (`inspect.signature`).

    Attributes:
        agent: the rlk agent that does the work.

    Raises:
        ValueError: for what does not exist or does not fit.
    """

    algo: ClassVar[str] = ""  #: the name of the algorithm in rlk
    names: ClassVar[tuple[str, ...]] = ()  #: of its parameters after policy and env, in their order
    usual: ClassVar[Mapping[str, Any]] = {}  #: defaults that are not those of rlk's config
    learns_from_vectors: ClassVar[bool] = True  #: or from one environment, as `get_env` gives it
    acts_deterministically: ClassVar[bool] = False  #: `predict`, unless told otherwise
    rows_every: ClassVar[int | None] = None  #: log_interval, where the one of `learn` has no effect

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        given = bound(type(self), arguments, keywords)
        with refused():
            env = given.pop("env")
            self._begin(given, None if env is None else as_vec_env(env))
            if given["_init_setup_model"]:
                self.setup_model()

    def _begin(self, given: dict[str, Any], env: VecEnv | None) -> None:
        """Take what the constructor was given, by name."""
        self._agent: Agent | None = None
        self._given, self._env = given, env
        self.policy = given["policy"]
        self.verbose: int = given["verbose"]
        self.policy_kwargs: dict[str, Any] = dict(given["policy_kwargs"] or {})
        self.tensorboard_log: str | None = given["tensorboard_log"]
        self.full_tensorboard_log: bool = given["full_tensorboard_log"]
        self.seed: int | None = given["seed"]
        self._watcher = Watcher()

    def setup_model(self) -> None:
        """Make the networks and all else that training needs."""
        if self._env is None:
            raise Refused(
                f"{type(self).__name__} needs an environment: pass env, or call set_env(env) first."
            )
        with refused():
            self._take(self._made())

    def _made(self) -> Agent:
        """The agent of what the constructor was given."""
        return rlk.make(
            self.algo,
            env=self._training_env(),
            plugins=[*self._plugins(), self._watcher],
            **self._settings(),
        )

    def _settings(self) -> dict[str, Any]:
        """What the constructor was given besides the defaults, by rlk's keys."""
        usual = self.defaults()
        own = {k: v for k, v in self._given.items() if not _is_usual(v, usual.get(k, _NOTHING))}
        return {**self.renamed(own), **self._policy_settings()}

    def renamed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the constructor by rlk's keys, without those that are the model's own."""
        settings = self.translated({k: v for k, v in given.items() if k not in _ITS_OWN})
        return {_RENAMED.get(key, key): value for key, value in settings.items()}

    def _policy_settings(self) -> dict[str, Any]:
        return policy_settings(self.policy, self.policy_kwargs)

    def _plugins(self) -> list[Any]:
        """Plugins of rlk that the model learns with."""
        return []

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings by the names of rlk's config, of those that the constructor takes."""
        return settings

    def defaults(self) -> dict[str, Any]:
        """The arguments of the constructor after policy and env, with their defaults."""
        parameters = list(signature(type(self)).parameters.values())[2:]
        return {one.name: one.default for one in parameters}

    def about(self) -> dict[str, Any]:
        """What only a model of Stable Baselines needs in a file, as JSON values and arrays."""
        policy = self.policy if isinstance(self.policy, str) else _name(self.policy)
        return {
            "class": type(self).__name__,
            "policy": policy,
            "policy_kwargs": plain(self.policy_kwargs),
            "observation_space": space_state(self.observation_space),
            "action_space": space_state(self.action_space),
            "env_id": model_files.env_id(self._env),
        }

    @classmethod
    def of_file(cls: type[Model], about: Mapping[str, Any]) -> Model:
        """A model that is about to become one that was saved; `about` is what `about` gave."""
        return cls.__new__(cls)

    def go_on(self, given: dict[str, Any], env: Any, state: State, path: Path) -> None:
        """Become a model that was saved.

        Args:
            given: arguments of the constructor: the defaults, the saved ones, and those of `load`.
            env: the environment, or None.
            state: what the file holds.
            path: the file.
        """
        changes = given.pop("changes")
        about = state.pop(model_files.KEY)
        vector = model_files.awaited(state, about) if env is None else as_vec_env(env)
        self._begin(given, vector)
        settings = {"n_envs": vector.num_envs, **self.renamed(changes)}
        if "policy" in changes or registered(self.policy) is not None:
            settings |= self._policy_settings()
        plugins = (*self._plugins(), self._watcher)
        self._take(from_state(state, path, env=self._training_env(), plugins=plugins, **settings))

    def _training_env(self) -> Any:
        """What rlk steps."""
        assert self._env is not None
        self._agent_env = training_vector(self._env, is_seeded=self.seed is not None)
        return self._agent_env

    def _take(self, agent: Agent) -> None:
        """Go on with an agent."""
        self._agent, self._watcher.model = agent, self
        self._watcher.watch(agent.run, steps=False)

    @property
    def agent(self) -> Agent:
        """The rlk agent.

        Raises:
            ValueError: if the model was not set up yet.
        """
        if self._agent is None:
            raise Refused("this model was not set up yet: call setup_model().")
        return self._agent

    # ---- what it is made of ----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """A hyperparameter, by its name in the constructor."""
        given = vars(self).get("_given", {})
        if name in given:
            return given[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{_why_not(name)}")

    @property
    def num_timesteps(self) -> int:
        """Timesteps trained so far, over all environments."""
        return 0 if self._agent is None else self._agent.num_timesteps

    @num_timesteps.setter
    def num_timesteps(self, value: int) -> None:
        self.agent.run.clock.timesteps = value

    @property
    def observation_space(self) -> Any:
        """Of one environment."""
        return self.agent.plan.observation_space if self._agent else self._space("observation")

    @property
    def action_space(self) -> Any:
        """Of one environment."""
        return self.agent.plan.action_space if self._agent else self._space("action")

    def _space(self, which: str) -> Any:
        return None if self._env is None else getattr(self._env, f"{which}_space")

    @property
    def n_envs(self) -> int | None:
        """How many environments it learns from."""
        return None if self._env is None else self._env.num_envs

    @property
    def ep_info_buf(self) -> list[dict[str, float]]:
        """Return `r` and length `l` of the latest episodes, the latest last."""
        recent = self.agent.run.metrics.recent_episodes
        return [{"r": return_, "l": length} for return_, length in recent]

    # ---- learning and acting ---------------------------------------------------------------------

    def learn(
        self: Model,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 100,
        tb_log_name: str = "run",
        reset_num_timesteps: bool = True,
    ) -> Model:
        """Train, and return this model.

        Args:
            total_timesteps: steps to train, over all environments.
            callback: a callback, a list of them, or a function of local and global variables. It
                stops the training by returning False.
            log_interval: collections (on-policy) or episodes (off-policy) between rows.
            tb_log_name: what the folder of tensorboard's events begins with.
            reset_num_timesteps: whether timesteps are counted from 0 again.
        """
        agent, run = self.agent, self.agent.run
        if self._env is None or (isinstance(self._env, AwaitedVecEnv) and not self._env.env_id):
            raise Refused(
                f"this {type(self).__name__} has no environment to learn in: "
                "load(path, env=env), or call set_env(env) first."
            )
        interval = int(self.rows_every or log_interval or 2**31)
        run.plan = attrs.evolve(run.plan, log_interval=interval)
        call = Call(total_timesteps, None, log_interval, tb_log_name, reset_num_timesteps)
        is_new = reset_num_timesteps or self.num_timesteps == 0
        if self.tensorboard_log is not None:
            folder = folder_of_run(self.tensorboard_log, tb_log_name, is_new=is_new)
            call.writer = ScalarWriter(folder)
        if reset_num_timesteps:
            run.clock.timesteps = 0
        call.callback = as_callback(callback)
        if call.callback is not None:
            call.callback.init_callback(self)
        self._watcher.call = call
        self._watcher.watch(run, steps=call.callback is not None)
        try:
            agent.learn(int(total_timesteps), reset_num_timesteps=False)
        finally:
            self._watcher.call = None
            self._watcher.watch(run, steps=False)
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        deterministic: bool | None = None,
    ) -> tuple[Any, Any]:
        """The action for an observation, or for a batch of them, and the state for the next call.

        Args:
            observation: one, or a batch of them, as the environment gives them.
            state: what the last call returned (recurrent policies).
            mask: where an episode has just begun.
            deterministic: the mode of the policy instead of a sample; None is the model's default,
                True for DQN, DDPG, SAC, TD3 and HER, else False.

        Raises:
            ValueError: if the observation does not fit.
        """
        if isinstance(observation, tuple) and len(observation) == 2:
            raise ValueError(
                "the observation is a tuple of two. Gymnasium's reset gives (observation, info): "
                "pass the observation alone, or use rlk_baselines.gym, whose reset gives that."
            )
        chosen = self.acts_deterministically if deterministic is None else deterministic
        return self.agent.predict(observation, state, mask, chosen)

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """How likely actions are: see `rlk.Agent.action_probability`."""
        return self.agent.action_probability(observation, state, mask, actions, logp)

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> Any:
        """The environment that it learns from, or None if a loaded model has none."""
        if isinstance(self._env, AwaitedVecEnv) and self._env.env_id is None:
            return None
        if self._env is None or self.learns_from_vectors or self._env.num_envs > 1:
            return self._env
        return Unvectorized(self._env)

    @property
    def env(self) -> Any:
        """As `get_env`."""
        return self.get_env()

    def set_env(self, env: Any) -> None:
        """Learn from another environment from now on, which has the same spaces.

        Raises:
            ValueError: if it does not fit.
        """
        with refused():
            if env is None:
                raise Refused("set_env needs an environment, got None.")
            new, old = as_vec_env(env), self._env
            self._env = new
            if self._agent is None:
                return
            try:
                self._agent.set_env(self._training_env())
            except BaseException:
                self._env = old
                raise

    def get_vec_normalize_env(self) -> VecNormalize | None:
        """The `VecNormalize` around its environment, or None."""
        return unwrap_vec_normalize(self._env)

    def set_random_seed(self, seed: int | None) -> None:
        """Seed everything that draws from now on; None changes nothing."""
        if seed is not None:
            self.seed = seed
            self.agent.set_random_seed(seed)
            if isinstance(self._agent_env, (BareVector, WrappedVector)):
                self._agent_env.is_seeded = True

    # ---- parameters and files --------------------------------------------------------------------

    def get_parameter_list(self) -> list[Variable]:
        """Every parameter, with its name and its value (TensorFlow's variables there)."""
        return [Variable(name, value) for name, value in self.get_parameters().items()]

    def get_parameters(self) -> OrderedDict[str, Array]:
        """A copy of every parameter, by name; the policy's begin with `model/`."""
        return OrderedDict(self.agent.get_parameters())

    def load_parameters(
        self, load_path_or_dict: Mapping[str, Any] | str | IO[bytes], exact_match: bool = True
    ) -> None:
        """Set parameters; optimisers stay as they are.

        Args:
            load_path_or_dict: what `get_parameters` returned, or a saved model.
            exact_match: whether none may be missing.

        Raises:
            RuntimeError: if names or shapes do not fit.
        """
        values = load_path_or_dict
        if not isinstance(values, Mapping):
            values = model_files.parameters_in(values)
        arrays = {name: np.asarray(value) for name, value in values.items()}
        try:
            self.agent.load_parameters(arrays, exact_match)
        except RlkError as error:
            raise ParametersDoNotFit(*error.args) from error

    def save(
        self, save_path: str | os.PathLike[str] | IO[bytes], cloudpickle: bool = False
    ) -> None:
        """Write the model.

        Args:
            save_path: a path, to which `.zip` is added if it has no suffix, or an open file.
            cloudpickle: write a pickle (`.pkl`) instead.
        """
        model_files.save(self, save_path, as_pickle=cloudpickle)

    @classmethod
    def load(
        cls: type[Model],
        load_path: str | os.PathLike[str] | IO[bytes],
        env: Any = None,
        custom_objects: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Model:
        """A model that was saved.

        Args:
            load_path: a path, with or without `.zip`, or an open file.
            env: the environment to learn in; None suffices to act.
            custom_objects: values for what the file holds under these names, which is not read.
            kwargs: arguments of the constructor that are to be others now, and those that no file
                holds: a policy of one's own, functions.

        Raises:
            ValueError: for what does not fit.
        """
        with refused():
            made: Model = model_files.load(cls, load_path, env, custom_objects or {}, kwargs)
        return made


class ActorCriticRLModel(BaseRLModel):
    """The models that learn a policy and a value from what they have just collected."""


class OffPolicyRLModel(BaseRLModel):
    """The models that learn from a replay."""

    learns_from_vectors = False
    acts_deterministically = True

    def is_using_her(self) -> bool:
        """Whether goals are relabelled in hindsight."""
        return any(one.name == "hindsight-replay" for one in self.agent.plan.storages)

    def replay_buffer_add(
        self, obs_t: Any, action: Any, reward: float, obs_tp1: Any, done: bool, info: Any
    ) -> None:
        """Put a transition into the replay.

        Args:
            obs_t, obs_tp1: the observation before and after.
            action: of the environment.
            reward: for it.
            done: whether the episode ended; by a time limit, if info says so.
            info: of the step.
        """
        from rlk_baselines.transitions import add_transition

        add_transition(self.agent.run, obs_t, action, reward, obs_tp1, done, info)


class DeterministicModel(OffPolicyRLModel):
    """The models whose policy gives one action for an observation."""

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """None, with a warning: its actions have no probabilities.

        Raises:
            ValueError: if that of given actions is asked for.
        """
        text = f"{type(self).__name__} acts by a deterministic policy, without probabilities."
        if actions is not None:
            raise ValueError(text)
        warnings.warn(text, stacklevel=2)


def refuse_replay_wrapper(replay_wrapper: Any) -> None:
    """ValueError for a wrapper of the replay, which HER passes to `learn` in Stable Baselines."""
    if replay_wrapper is not None:
        raise Refused(
            "replay_wrapper has no effect here. For hindsight make HER(policy, env, model_class)."
        )


def _is_usual(value: Any, default: Any) -> bool:
    """Whether an argument is its default, which rlk has by itself."""
    return value is default or (
        isinstance(value, (bool, int, float, str, tuple)) and value == default
    )


def _name(policy: Any) -> str:
    return str(getattr(policy, "__name__", type(policy).__name__))


def _why_not(name: str) -> str:
    """Why a model has no such attribute, if it is TensorFlow's."""
    if name in ("sess", "graph", "params", "act_model", "train_model", "step_model", "summary"):
        return ": it belongs to TensorFlow. The policy as a torch module is model.agent.run.policy"
    return ""
