"""The base class of Stable-Baselines3's models, on top of those of Stable Baselines 2.10."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import IO, Any, ClassVar, Literal, Self

import attrs
import numpy as np
import torch

from rlk.agent import Agent
from rlk.running.clock import Clock
from rlk_baselines.argument_types import Schedulable
from rlk_baselines.arguments import (
    POLICY_KWARGS,
    SEED,
    SET_UP,
    TENSORBOARD_LOG,
    VERBOSE,
    WHOLE,
    Argument,
    Needed,
)
from rlk_baselines.callback_variables import AccumulatedVariables
from rlk_baselines.common.base_class import Callback
from rlk_baselines.common.callbacks import as_callback
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_baselines.policies import by_name
from rlk_baselines.policies.registered import class_of, get_policy_from_name
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.saved_models import model_files
from rlk_sb3 import latest_episodes, optimisers
from rlk_sb3.common.callbacks import ProgressBarCallback
from rlk_sb3.common.logger import Logger
from rlk_sb3.common.utils import is_seeded
from rlk_sb3.common.utils.tensors import usable_device
from rlk_sb3.elsewhere import OF_MODELS, with_hint
from rlk_sb3.extractors import has_extractor, refuse_lost_extractor
from rlk_sb3.images import channels_first, turned_to
from rlk_sb3.learning import Watcher
from rlk_sb3.loop_variables import LoopVariables
from rlk_sb3.monitored import monitored
from rlk_sb3.own_algorithm import refuse_own_algorithm
from rlk_sb3.parameters import HasParameters
from rlk_sb3.policy_keywords import PolicyFacts, settings_of
from rlk_sb3.policy_view import PolicyView
from rlk_sb3.rows import OwnRows

Device = torch.device | str
#: The last arguments of every model.
LAST = (
    Argument("stats_window_size", rlk=None, type=WHOLE, is_held=True),
    *(TENSORBOARD_LOG, POLICY_KWARGS, VERBOSE, SEED),
    Argument("device", convert=usable_device),
    SET_UP,
)
#: The arguments about state-dependent exploration.
SDE = (
    Argument("use_sde", is_held=True),
    Argument("sde_sample_freq", is_held=True, needs=Needed("use_sde", "True")),
)


class BaseAlgorithm(HasParameters):
    """A model with the interface of Stable-Baselines3.

    Attributes:
        policy: the policy, a torch module.
        ep_info_buffer: the return `r` and length `l`, in steps, of the latest episodes, the newest
            last; of one in a monitor, also its time `t` and the monitor's `info_keywords`.
        ep_success_buffer: the last `is_success`, 0 to 1, of the latest episodes that tell it.
        agent: the rlk agent that does the work.
    """

    fixed: ClassVar[Mapping[str, Any]] = {}  #: settings of rlk, unless `policy_kwargs` set them
    layers: ClassVar[tuple[int, ...]] = (64, 64)  #: the default sizes of hidden layers
    layers_of_images: ClassVar[tuple[int, ...]] = ()  #: likewise, after a CNN
    shares_extractor: ClassVar[bool] = True  #: the default of `share_features_extractor`
    rows = 1
    #: Policy name -> class; a derived class may add names of its own.
    policy_aliases: ClassVar[dict[str, Any]] = {
        "MlpPolicy": by_name.MlpPolicy,
        "CnnPolicy": by_name.CnnPolicy,
        "MultiInputPolicy": by_name.MultiInputPolicy,
    }
    viewed: ClassVar[type[PolicyView]] = PolicyView  #: the class of `policy`
    instead: ClassVar[Mapping[str, str]] = OF_MODELS  #: attributes not here -> what to use
    full_tensorboard_log = False
    requires_on_step = True  #: of callbacks, as their base class does in Stable-Baselines3
    learns_from_vectors = True
    acts_deterministically = False
    learning_rate: Schedulable
    stats_window_size: int
    ep_info_buffer: deque[dict[str, Any]]
    ep_success_buffer: deque[float]
    start_time: int

    @classmethod
    def _refuse_class(cls) -> None:
        """As in `Constructed`; likewise for a class that overrides the algorithm's methods."""
        refuse_own_algorithm(cls, BaseAlgorithm)
        super()._refuse_class()

    def _construct(self, given: dict[str, Any]) -> None:
        with refused():
            given["env"] = monitored(given["env"])
        super()._construct(given)

    def _set_initial(self, given: dict[str, Any], env: Any) -> None:
        policy = given["policy"]
        if isinstance(policy, str) and class_of(policy) is policy:  # no name that all models know
            given = {**given, "policy": self.policy_aliases.get(policy, policy)}
        super()._set_initial(given, env)
        self._drawn_seed: int | None = None
        self._watcher = Watcher()
        self._rows = self._watcher.rows = OwnRows()
        self._view: PolicyView | None = None
        latest_episodes.begin(self)
        self._total_timesteps = 0  # the timestep at which the latest call of `learn` ends
        self.start_time = 0  # when that call started, in nanoseconds since the epoch

    def _new_agent(self) -> Agent:
        if self.seed is None and is_seeded():
            # The environments keep their own seeds: `self.seed` stays None.
            self._drawn_seed = int(np.random.randint(2**31 - 1))
        return super()._new_agent()

    def load_from(self, saved: model_files.Saved, env: Any) -> None:
        """As in `Constructed`; with a custom feature extractor, the policy is built again."""
        refuse_lost_extractor(type(self).__name__, saved.given["policy_kwargs"] or {})
        if has_extractor(saved.changes.get("policy_kwargs") or {}):
            changes = {"policy": saved.given["policy"], **saved.changes}
            saved = attrs.evolve(saved, changes=changes)
        space = saved.awaited().observation_space
        super().load_from(saved, turned_to(space, monitored(env)))
        latest_episodes.restore(self)

    def set_env(self, env: Any, force_reset: bool = True) -> None:
        """As in `BaseRLModel`; a single environment is put into a `Monitor`.

        Args:
            env: the environment. If the model learnt from images with channels first, as every
                model of Stable-Baselines3 did, the environment may have them last.
            force_reset: ignored: new episodes always start.
        """
        with refused():
            env = turned_to(self.observation_space, monitored(env))
        super().set_env(env)

    def set_random_seed(self, seed: int | None = None) -> None:
        """As in `BaseRLModel`."""
        super().set_random_seed(seed)

    def _settings(self) -> dict[str, Any]:
        seed = self._drawn_seed if self.seed is None else self.seed
        own = {**self.renamed(self._with_effect()), "seed": seed}
        return {**self.fixed, **own, **self._policy_settings()}

    def held_policy_kwargs(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """As in `Constructed`, with the name of an optimiser's class."""
        return super().held_policy_kwargs(optimisers.held(kwargs))

    def _policy_settings(self) -> dict[str, Any]:
        return settings_of(self._given["policy"], self.policy_kwargs, self._policy_facts())

    def _policy_facts(self) -> PolicyFacts:
        return PolicyFacts(
            layers=self.layers,
            layers_of_images=self.layers_of_images,
            optimizer=self._optimizer(),
            is_off_policy=self.is_off_policy,
            use_sde=bool(self._given.get("use_sde")),
            observation_space=self.observation_space,
            action_space=self.action_space,
            shares_extractor=self.shares_extractor,
        )

    def _optimizer(self) -> tuple[Any, float]:
        """The class of the model's optimiser, and its epsilon."""
        return torch.optim.Adam, 1e-8 if self.is_off_policy else 1e-5

    def _use(self, agent: Any) -> None:
        super()._use(agent)
        agent.run.metrics.average_over(self._given["stats_window_size"])
        agent.run.metrics.episode_listeners.append(partial(latest_episodes.add, self))
        if self._view is not None:
            self._view.follow(agent.run.policy)

    def _change(self, name: str, value: Any) -> None:
        """As in `Constructed`; `policy` may be set to the model's own, which a program trained."""
        if name != "policy" or value is not self._view:
            super()._change(name, value)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError as error:
            raise with_hint(error, name, self.instead) from None

    @property
    def policy(self) -> Any:
        """The policy: a torch module with the methods `predict`, `evaluate_actions` and so on.

        It is always the same object. Its parameters are replaced by other tensors when the agent is
        rebuilt: by `set_env` with another number of environments, or by a changed setting.
        """
        if self._view is None:
            self._view = self.viewed(self)
        return self._view

    @property
    def lr_schedule(self) -> Callable[[float], float]:
        """The learning rate as a function of the remaining fraction of the training, 1 to 0."""
        return get_schedule_fn(self._given["learning_rate"])

    @lr_schedule.setter
    def lr_schedule(self, value: Callable[[float], float]) -> None:
        self.learning_rate = value

    @property
    def policy_class(self) -> type:
        """The policy class that the constructor was given, or that its policy name stands for."""
        given = self._given["policy"]
        return given if isinstance(given, type) else get_policy_from_name(None, given)

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return torch.device(self.agent.run.device)

    @property
    def logger(self) -> Logger:
        """The logger that writes this model's rows."""
        return self._rows.logger

    def set_logger(self, logger: Logger) -> None:
        """Write rows only to this logger, which `common.logger.configure` makes.

        Raises:
            Refused: if `logger` is not a `Logger`.
        """
        if not isinstance(logger, Logger):
            wanted = "a Logger, as common.logger.configure(folder, formats) makes one"
            raise Refused(f"set_logger takes {wanted}, got {type(logger).__name__}.")
        self._rows.logger, self._rows.is_given = logger, True
        self.tensorboard_log = None

    def numbers_of_training(self) -> dict[str, float]:
        """Metrics that a row has in addition to rlk's, or instead of them, by tag.

        For a policy whose standard deviation does not depend on the observation, or with
        state-dependent exploration, that is its mean, `train/std`.
        """
        named = self.agent.run.policy.named_parameters()
        log_std = next((value for name, value in named if name.endswith(".log_std")), None)
        return {} if log_std is None else {"train/std": float(log_std.detach().exp().mean())}

    # ---- learning and acting ---------------------------------------------------------------------

    def learn(
        self,
        total_timesteps: float,
        callback: Callback = None,
        log_interval: int | Literal["auto"] | None = "auto",
        tb_log_name: str | None = None,
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """As `BaseRLModel.learn`, with a progress line on standard error for `progress_bar`.

        The default of `log_interval` is 1 collection for PPO, 100 for A2C, and 4 episodes for the
        others, and None means one row at the end.
        With `reset_num_timesteps`, `ep_info_buffer` starts empty.
        """
        if progress_bar:
            callback = [ProgressBarCallback(), as_callback(callback)]
        call = (total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps)
        return super().learn(*call)

    def accumulated(self, before: Clock) -> list[AccumulatedVariables]:
        """As in `BaseRLModel`, with the variables of Stable-Baselines3's loops."""
        return [*super().accumulated(before), LoopVariables(self)]

    def dump_logs(self) -> None:
        """Write a row of the log now."""
        self.agent.run.log()

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool | None = False,
    ) -> tuple[Any, Any]:
        """As `BaseRLModel.predict`, where `episode_start` is called `mask`.

        Images may be channels-last even if the model learns from channels-first images.
        """
        observation = channels_first(observation, self.observation_space)
        return super().predict(observation, state, episode_start, bool(deterministic))

    # ---- files -----------------------------------------------------------------------------------

    def save(  # type: ignore[override]
        self,
        path: str | os.PathLike[str] | IO[bytes],
        exclude: Iterable[str] | None = None,
        include: Iterable[str] | None = None,
    ) -> None:
        """As `BaseRLModel.save`.

        Args:
            path: the path or the file.
            exclude: names of attributes to leave out, of those that the program has added; others
                are ignored.
            include: ignored.
        """
        model_files.save(self, path, exclude=exclude or ())

    @classmethod
    def load(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str] | IO[bytes],
        env: Any = None,
        device: Device | None = "auto",
        custom_objects: Mapping[str, Any] | None = None,
        print_system_info: bool = False,
        force_reset: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Load a saved model; see `BaseRLModel.load`.

        Args:
            path: a path, with or without `.zip` or `.pkl`, or an open binary file.
            env: the environment to learn in; a model that only acts needs none.
            device: the device to use from now on, whichever the model was trained on; None keeps
                the saved one.
            custom_objects, kwargs: as in `BaseRLModel.load`.
            print_system_info: whether to print the version of PyTorch.
            force_reset: ignored: new episodes always start.
        """
        if print_system_info:
            print(f"PyTorch {torch.__version__}")
        if device is not None:
            kwargs["device"] = usable_device(device)
        with refused():
            made: Self = model_files.load(cls, path, env, custom_objects or {}, kwargs)
        return made
