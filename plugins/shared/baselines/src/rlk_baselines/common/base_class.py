"""`BaseRLModel`: what all models of Stable Baselines have in common, in front of an rlk agent."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np

from rlk.errors import RlkError
from rlk.planning.run_settings import checked_timesteps
from rlk.records import Array
from rlk_baselines import model_files
from rlk_baselines.common.callbacks import BaseCallback, as_callback
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize, unwrap_vec_normalize
from rlk_baselines.construction import Constructed
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv, as_vec_env
from rlk_baselines.environments.training_vector import BareVector, WrappedVector
from rlk_baselines.environments.unvectorized import Unvectorized
from rlk_baselines.imitation import pretrain
from rlk_baselines.learning import Call
from rlk_baselines.refusals import ParametersDoNotFit, Refused, refused

Model = TypeVar("Model", bound="BaseRLModel")
Callback = BaseCallback | Callable[..., Any] | list[Any] | None


class Variable(NamedTuple):
    """A parameter of a model: `get_parameter_list` gives TensorFlow's variables there."""

    name: str
    value: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
        return tuple(self.value.shape)


class BaseRLModel(Constructed):
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
            total_timesteps: steps to train, over all environments; of 2.5 they are 2.
            callback: a callback, a list of them, or a function of local and global variables. It
                stops the training by returning False.
            log_interval: collections (on-policy, DDPG) or episodes (off-policy) between rows.
            tb_log_name: what the folder of tensorboard's events begins with.
            reset_num_timesteps: whether timesteps are counted from 0 again.
        """
        if self._env is None:
            raise Refused(
                f"this {type(self).__name__} has no environment to learn in: pass env to the "
                "constructor, or call set_env(env) first."
            )
        if isinstance(self._env, AwaitedVecEnv) and not self._env.env_id:
            raise self._env.refusal()
        call = Call(
            _whole(total_timesteps),
            as_callback(callback),
            log_interval,
            tb_log_name,
            reset_num_timesteps,
        )
        with self._learning():
            self._watcher.learn(self, call)
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
        pair = observation if isinstance(observation, tuple) and len(observation) == 2 else None
        if pair and isinstance(pair[1], dict):
            raise ValueError(
                "the observation is a tuple of two. Gymnasium's reset gives (observation, info): "
                "pass the observation alone, or use rlk_baselines.gym, whose reset gives that."
            )
        chosen = self.acts_deterministically if deterministic is None else deterministic
        return self._act(observation, state, mask, chosen)

    def _act(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> tuple[Any, Any]:
        """What `predict` returns; models that sample in a way of their own have another."""
        return self.agent.predict(observation, state, mask, deterministic)

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Any = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """How likely actions are: see `rlk.Agent.action_probability`.

        Actions may have an axis more or less than the space (`[B, 1]` of a Discrete one).
        """
        if actions is not None:
            actions, shape = np.asarray(actions), self.action_space.shape
            if actions.size % math.prod(shape) == 0:
                actions = actions.reshape(-1, *shape)
        return self.agent.action_probability(observation, state, mask, actions, logp)

    def pretrain(
        self: Model,
        dataset: Any,
        n_epochs: int = 10,
        learning_rate: float = 1e-4,
        adam_epsilon: float = 1e-8,
        val_interval: int | None = None,
    ) -> Model:
        """Learn to act as an expert did, by supervised learning, and return this model.

        Args:
            dataset: an `ExpertDataset`.
            n_epochs: passes over its training part.
            learning_rate, adam_epsilon: of Adam.
            val_interval: epochs between reports of the losses; None is a tenth of all.
        """
        with refused():
            pretrain(self, dataset, n_epochs, learning_rate, adam_epsilon, val_interval)
        return self

    # ---- the environment -------------------------------------------------------------------------

    def get_env(self) -> Any:
        """The environment that it learns from, or None if a loaded model has none.

        A model that learns from one environment gives out the one that was passed (one of
        Gymnasium's interface with gym's), and of a vector of one the same vector without its axis.
        """
        if isinstance(self._env, AwaitedVecEnv) and self._env.env_id is None:
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
        """As `get_env`."""
        return self.get_env()

    def set_env(self, env: Any) -> None:
        """Learn from another environment from now on, which has the same spaces.

        It may be a vector of another number: a replay then goes on with its newest transitions.
        The episodes of the one before are forgotten: means are of the new one alone.

        Raises:
            ValueError: if it does not fit.
        """
        with refused():
            if env is None:
                raise Refused("set_env needs an environment, got None.")
            new, old = as_vec_env(env), self._env
            agent = None if self._agent is None else self.agent  # what was set counts before
            self._env = new
            if agent is None:
                return
            try:
                if old is None or self._goes_on_from(old):
                    agent.set_env(self._training_env())
                elif self._is_learning:
                    raise Refused(
                        "an environment of another number, or in another VecNormalize, is set "
                        "between two calls of learn, not while one goes on."
                    )
                else:
                    self._take(self._moved())
            except BaseException:
                self._env = old
                raise
            metrics = self.agent.run.metrics
            metrics.recent_episodes.clear()
            metrics.recent_successes.clear()

    def get_vec_normalize_env(self) -> VecNormalize | None:
        """The `VecNormalize` around its environment, or None."""
        return unwrap_vec_normalize(self._env)

    def set_random_seed(self, seed: int | None) -> None:
        """Seed everything that draws from now on; None changes nothing.

        Python's, numpy's and torch's global generators are seeded, too. Environments are with their
        next reset: while `learn` goes on, running episodes stay as they are.
        """
        if seed is None:
            return
        self._given["seed"] = vars(self)["seed"] = seed
        if self._is_learning:
            self.agent.run.streams.reseed(seed)
        else:
            self.agent.set_random_seed(seed)
        if isinstance(self._agent_env, (BareVector, WrappedVector)):
            self._agent_env.is_seeded = True
        self._seed_globally()

    # ---- parameters and files --------------------------------------------------------------------

    def get_parameter_list(self) -> list[Variable]:
        """Every parameter, with its name and its value (TensorFlow's variables there)."""
        return [Variable(name, value) for name, value in self.get_parameters().items()]

    def get_parameters(self) -> OrderedDict[str, Array]:
        """A copy of every parameter, by name; the policy's begin with `model/`."""
        return OrderedDict(self.agent.get_parameters())

    def further_parameters(self, about: Mapping[str, Any]) -> dict[str, Array]:
        """Parameters that are not the agent's, by name, in what `about` gives."""
        return {}

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
            values = model_files.parameters_in(values, self)
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
            custom_objects: values for what the file holds under these names, which is not read:
                arguments of the constructor, and the two spaces. A warning tells of other names.
            kwargs: arguments of the constructor that are to be others now, and those that no file
                holds: a policy of one's own, functions.

        Raises:
            ValueError: for what does not fit.
        """
        with refused():
            made: Model = model_files.load(cls, load_path, env, custom_objects or {}, kwargs)
        return made


def _whole(timesteps: Any) -> int:
    """Timesteps as a whole number: a fraction is cut off, as programs compute them (0.1 * n)."""
    is_fraction = isinstance(timesteps, float) and math.isfinite(timesteps)
    with refused():
        return checked_timesteps(int(timesteps) if is_fraction else timesteps, "learn")


def __getattr__(name: str) -> Any:
    """The families of models, which are derived from the one that is here."""
    if name in ("ActorCriticRLModel", "OffPolicyRLModel"):
        from rlk_baselines import models

        return getattr(models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
