"""`BaseRLModel`: the interface that all models of Stable Baselines share, over an rlk agent."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, ClassVar, Literal, NoReturn, Self, SupportsIndex

import numpy as np

from rlk.errors import RlkError
from rlk.planning.other_environment import check_same_spaces
from rlk.planning.run_settings import checked_seed
from rlk.protocols import State
from rlk.records import Array
from rlk.running.clock import Clock
from rlk.running.device import on_threads, threads_of
from rlk.saving import checkpoint
from rlk_baselines.arguments import documented_class, show_defaults
from rlk_baselines.callback_variables import AccumulatedVariables
from rlk_baselines.callback_variables.collection import Collection
from rlk_baselines.changing import rebuilt
from rlk_baselines.common.callbacks import BaseCallback, as_callback
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize, unwrap_vec_normalize
from rlk_baselines.construction import Constructed
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv, as_vec_env
from rlk_baselines.environments.own_exceptions import own_exceptions
from rlk_baselines.environments.spaces import planned_spaces
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.foreign_files.reading import ForeignFiles
from rlk_baselines.learning import Call, whole_timesteps
from rlk_baselines.policies.registered import class_of
from rlk_baselines.refusals import ParametersDoNotFit, Refused, as_written, refused
from rlk_baselines.saved_models import model_files
from rlk_baselines.tensorflow.loading import FilesOfStableBaselines
from rlk_baselines.variable import Variable
from rlk_bc.cloning import pretrain

Callback = BaseCallback | Callable[..., Any] | list[Any] | tuple[Any, ...] | None


class BaseRLModel(Constructed):
    """A policy with everything that trains it.

    Args:
        policy: a policy's name or class.
        env: an environment with the interface of gym or Gymnasium, a vector of them, or an id. None
            is for a model that gets its environment later.
        arguments, keywords: those of the class's documented signature (`inspect.signature`).

    Attributes:
        agent: the rlk agent that does the work.

    Raises:
        ValueError: if something does not exist, or does not fit the rest.
    """

    #: The files of another library that `load` and `load_parameters` read.
    foreign_files: ClassVar[ForeignFiles] = FilesOfStableBaselines()
    has_own_files: ClassVar[bool] = False  #: whether it loads no files of its base classes
    is_off_policy: ClassVar[bool] = False  #: whether it learns from a replay alone
    counts_collections: ClassVar[bool] = False  #: for rows, where rlk counts episodes
    collected: ClassVar[type[Collection]] = Collection  #: the variables of callbacks on collections

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "algo" in vars(cls):
            show_defaults(cls)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Neither pickled nor copied, as `rlk.Agent`."""
        name = type(self).__name__
        raise TypeError(
            f"a {name} can be neither pickled nor copied, because its environments cannot. Save "
            f"it, model.save(path), and load it where it is wanted: {name}.load(path)"
        )

    # ---- learning and acting ---------------------------------------------------------------------

    def learn(
        self,
        total_timesteps: float,
        callback: Callback = None,
        log_interval: int | Literal["auto"] | None = "auto",
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
    ) -> Self:
        """Train, and return this model.

        Args:
            total_timesteps: environment steps to train for, summed over all environments. A
                fraction is rounded down.
            callback: a callback, a list of them, or a function of local and global variables. It
                stops the training by returning False.
            log_interval: collections (on-policy, DDPG) or episodes (off-policy) between two rows of
                the log, which also ends with one; 0 and None mean only that. The default is 1 for
                PPO2, 4 for SAC and TD3, and 100 for the others; GAIL, PPO1 and TRPO ignore it.
            tb_log_name: the prefix of the folder for TensorBoard's events; the default is the name
                of the model, such as PPO2.
            reset_num_timesteps: whether to count timesteps from 0 again.
        """
        if self._is_learning:
            raise Refused("learn is running already, in the call that this one was made within.")
        self._refuse_no_env()
        interval = self.rows if log_interval == "auto" else log_interval
        name = documented_class(self).__name__ if tb_log_name is None else tb_log_name
        steps, function = whole_timesteps(total_timesteps), as_callback(callback)
        call = Call(steps, function, interval, name, reset_num_timesteps)
        self.join_ranks()
        with self._learning(), own_exceptions():
            self._watcher.learn(self, call)
        return self

    def _refuse_no_env(self) -> None:
        """Raise Refused if there is no environment to learn in."""
        if self._env is None:
            raise Refused(
                f"this {type(self).__name__} has no environment to learn in: pass env to the "
                "constructor, or call set_env(env) first."
            )
        if (awaited := self._awaited_env()) is not None:
            raise awaited.refusal()

    def _awaited_env(self) -> Any:
        """The placeholder for an environment that a loaded model cannot make, or None."""
        is_awaited = isinstance(self._env, AwaitedVecEnv) and self._env.env_id is None
        return self._env if is_awaited else None

    def accumulated(self, before: Clock) -> list[AccumulatedVariables]:
        """What adds the variables of steps for callbacks, in a call of `learn` that begins now."""
        return [self.collected(before, self.agent.run.collector.state_dict()["start"])]

    def own_constants(self, total_timesteps: int) -> dict[str, Any]:
        """Variables for callbacks that only models of this class have, the same at every step."""
        return {}

    def predict(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        deterministic: bool | None = None,
    ) -> tuple[Any, Any]:
        """The action for an observation, or for a batch of them, and the state for the next call.

        Args:
            observation: one observation, or a batch of them [B, …], as the environment returns
                them.
            state: the state that the previous call returned (recurrent policies).
            mask: bool [B], whether the observation is the first of an episode.
            deterministic: whether to take the mode of the policy instead of a sample. None is the
                model's default: True for DQN, DDPG, SAC, TD3 and HER, else False.

        Raises:
            ValueError: if the observation does not fit the observation space.
        """
        pair = observation if isinstance(observation, tuple) and len(observation) == 2 else None
        if pair and isinstance(pair[1], dict):
            raise ValueError(
                "the observation is a tuple of two. Gymnasium's reset gives (observation, info): "
                "pass the observation alone, or use rlk_baselines.gym, whose reset gives that."
            )
        chosen = self.acts_deterministically if deterministic is None else deterministic
        return self._act(observation, state, mask, chosen)

    def _act(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> tuple[Any, Any]:
        """What `predict` returns; models that sample differently override this."""
        return self.agent.predict(observation, state, mask, deterministic)

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """The probability of actions: see `rlk.Agent.action_probability`.

        `actions` of a Discrete space may be [B] or [B, 1].
        """
        if actions is not None:
            actions, shape = np.asarray(actions), self.action_space.shape
            if actions.size % math.prod(shape) == 0:
                actions = actions.reshape(-1, *shape)
        return self.agent.action_probability(observation, state, mask, actions, logp)

    def pretrain(
        self,
        dataset: Any,
        n_epochs: int = 10,
        learning_rate: float = 1e-4,
        adam_epsilon: float = 1e-8,
        val_interval: int | None = None,
    ) -> Self:
        """Learn to act as an expert did, by supervised learning, and return this model.

        Args:
            dataset: an `ExpertDataset`.
            n_epochs: passes over the training part of the dataset.
            learning_rate, adam_epsilon: the settings of Adam.
            val_interval: epochs between two reports of the losses; None means `n_epochs` / 10.
        """
        if self.verbose > 0:
            print("Pretraining with Behavior Cloning...")
        agent, numbers = self.agent, (n_epochs, learning_rate, adam_epsilon, val_interval)
        with refused(), on_threads(threads_of(agent.run)):
            pretrain(agent, dataset, *numbers, verbose=self.verbose)
        return self

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> Any:
        """The environment that the model learns from, or None if a loaded model has none.

        A model that was given a single environment returns that one; one with Gymnasium's interface
        comes back with gym's. If it was given a vector of one environment, the result steps that
        vector without the batch axis. Models that learn from vectors return the vector.
        """
        if self._awaited_env() is not None:
            return None
        if self._env is None or self.learns_from_vectors or self._env.num_envs > 1:
            return self._env
        if isinstance(self._env, DummyVecEnv) and self._env.one is not None:
            return self._env.one
        if self._unvectorized is None or self._unvectorized.venv is not self._env:
            self._unvectorized = Unvectorized(self._env)
        return self._unvectorized

    @property
    def env(self) -> Any:
        """The result of `get_env`; setting it calls `set_env`."""
        return self.get_env()

    @env.setter
    def env(self, value: Any) -> None:
        self.set_env(value)

    @env.deleter
    def env(self) -> None:
        """Do nothing: `del model.env` frees memory there, and the environment stays in use here."""

    def set_env(self, env: Any) -> None:
        """Learn from another environment from now on. It must have the same spaces.

        It may be a vector with another number of environments: a replay storage then keeps its
        newest transitions. Episode statistics start again, so that means are of the new environment
        alone.

        Raises:
            ValueError: if the environment does not fit, or if the number of environments or the
                `VecNormalize` would change during `learn`.
        """
        with refused():
            if env is None:
                raise Refused("set_env needs an environment, got None.")
            new, old = as_vec_env(env), self._env
            agent = None if self._agent is None else self.agent  # applies attributes that were set
            self._env = new
            if agent is None:
                return
            before = old, self._agent_env, self._env_id
            try:
                if old is None or self._can_keep_agent(old):
                    agent.set_env(self._training_env())
                elif self._is_learning:
                    raise Refused(
                        "an environment of another number, or in another VecNormalize, is set "
                        "between two calls of learn, not while one is running."
                    )
                else:
                    spaces, expected = planned_spaces(new), planned_spaces(old)
                    check_same_spaces(type(new).__name__, spaces, expected)
                    state = checkpoint.model_state(agent.run)
                    self._use(rebuilt(self, state, {}))
            except BaseException:
                self._env, self._agent_env, self._env_id = before
                raise
            metrics = self.agent.run.metrics
            metrics.recent_episodes.clear()
            metrics.recent_successes.clear()

    def get_vec_normalize_env(self) -> VecNormalize | None:
        """The `VecNormalize` around the model's environment, or None."""
        return unwrap_vec_normalize(self._env)

    @property
    def policy(self) -> Any:
        """The policy class that the constructor was given, or that its name stands for."""
        return class_of(self._given["policy"])

    def set_random_seed(self, seed: int | None) -> None:
        """Seed every random stream of the model; None changes nothing.

        The global generators of Python, numpy and torch are seeded, too. Environments are seeded at
        their next reset, so episodes in progress do not change.

        Raises:
            Refused: if `seed` is neither None nor a whole number of at least 0.
        """
        with refused():
            seed = checked_seed(seed, "set_random_seed")
        if seed is None:
            return
        self._given["seed"] = seed
        if self._is_learning:
            self.agent.run.streams.reseed(seed)
        else:
            self.agent.set_random_seed(seed)
        self._agent_env.is_seeded = True
        self._seed_globally()

    # ---- parameters and files --------------------------------------------------------------------

    def get_parameter_list(self) -> list[Variable]:
        """Every parameter with its name and value; Stable Baselines returns variables here."""
        return [Variable(name, value) for name, value in self.get_parameters().items()]

    def get_parameters(self) -> OrderedDict[str, Array]:
        """A copy of every parameter, by name; names of the policy's begin with `model/`."""
        return OrderedDict(self.agent.get_parameters())

    def further_parameters(self, state: State) -> dict[str, Any]:
        """Parameters that are not the agent's, by name, from the state of a saved model."""
        return {}

    def load_parameters(
        self,
        load_path_or_dict: Mapping[str, Any] | Sequence[Any] | str | os.PathLike[str] | IO[bytes],
        exact_match: bool = True,
    ) -> None:
        """Set parameters; the optimisers' states do not change.

        Args:
            load_path_or_dict: the result of `get_parameters`, values in the order of
                `get_parameter_list`, or the path or file of a saved model.
            exact_match: whether to refuse values that lack a parameter.

        Raises:
            RuntimeError: if names or shapes do not fit.
        """
        values = load_path_or_dict
        if not isinstance(values, Mapping):
            values = model_files.parameters_in(values, self)
        arrays = {name: np.asarray(value) for name, value in values.items()}
        try:
            self.agent.load_parameters(arrays, exact_match)
        except RlkError as error:
            raise ParametersDoNotFit(as_written(str(error))) from error

    def save(
        self, save_path: str | os.PathLike[str] | IO[bytes], cloudpickle: bool = False
    ) -> None:
        """Write the model to a file, with attributes that the program has added if JSON holds them.

        Args:
            save_path: a path, to which `.zip` is added if it has no suffix, or an open binary file.
            cloudpickle: whether to write a pickle (`.pkl`) instead.
        """
        model_files.save(self, save_path, as_pickle=cloudpickle)

    @classmethod
    def load(
        cls,
        load_path: str | os.PathLike[str] | IO[bytes],
        env: Any = None,
        custom_objects: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Load a saved model.

        Args:
            load_path: a path, with or without `.zip` or `.pkl`, or an open binary file.
            env: the environment to learn in; a model that only acts needs none.
            custom_objects: values that replace the saved ones, which are then not read, by name:
                constructor arguments, and the two spaces. Other names cause a warning.
            kwargs: constructor arguments with new values, and those that no file holds: a custom
                policy, functions.

        Raises:
            ValueError: if the file and the arguments do not fit each other.
        """
        with refused():
            made: Self = model_files.load(cls, load_path, env, custom_objects or {}, kwargs)
        return made


def __getattr__(name: str) -> Any:
    """The base classes of model families: `models` imports this module, so they load on access."""
    if name in ("ActorCriticRLModel", "OffPolicyRLModel"):
        from rlk_baselines import models

        return getattr(models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
