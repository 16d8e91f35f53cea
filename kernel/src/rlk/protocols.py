"""What each kind of component must be able to do, as typing protocols: no base class is needed.

Dimensions: T time, N environments, B batch, F features, P size of a distribution's flat parameters.
A vector environment has no protocol here: it *is* a `gymnasium.vector.VectorEnv` with same-step
restarts. Arrays that a step returns stay valid during the next one; infos are empty but where an
episode ended, and but for `infos["kept"]` of one made with `info_keys`: `info.KEY` -> float32 [N],
at an end those of the last step. Contract suites for all are in `rlk.testing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from rlk.records import Act, Array, Batch, Field, Loss, Schema, Step, Update

if TYPE_CHECKING:
    from pathlib import Path

    import gymnasium as gym
    from torch import Tensor, nn

    from rlk.optimise import Objective

#: As it goes into a checkpoint: JSON values, arrays and tensors in nested dicts and lists.
State = dict[str, Any]
#: `optimise(group, loss_fn, *args)`: one step of that group's optimiser; the loss, detached.
Optimise = Callable[..., Loss]


class Stateful(Protocol):
    """What has a part in a checkpoint."""

    def state_dict(self) -> State: ...
    def load_state_dict(self, state: State) -> None: ...


class PolicyBuilder(Protocol):
    """A policy component. What heads are is between it and the algorithm (see `rlk_networks`)."""

    def build(self, observation_space: gym.Space[Any], heads: Any) -> nn.Module:
        """The policy, from raw observations, with the heads that the algorithm asked for, and with
        a method `add_filter(module)` where `rlk_filter_observation` is to work."""


class Distribution(Protocol):
    """Functions on flat parameter tensors [..., P]: no objects on the hot path. `sample` takes its
    noise from outside, so that it is pure, traceable, and the same in torch and numpy."""

    parameter_size: int
    action: Field  #: shape of one action, and the dtype that storage keeps it in

    def head(self, features: int) -> nn.Module: ...  #: [B, features] to parameters [B, P]
    def noise(self, rng: np.random.Generator, batch: int) -> Array: ...  #: float32 [batch, ...]
    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor: ...
    def mode(self, parameters: Tensor) -> Tensor: ...
    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor: ...
    def entropy(self, parameters: Tensor) -> Tensor: ...
    def kl(
        self, parameters: Tensor, other: Tensor
    ) -> Tensor: ...  #: KL(parameters || other), [...]
    def env_action(self, action: Array) -> Array: ...  #: clipped or scaled into the env's space

    def numpy_sample(self, parameters: Array, noise: Array) -> tuple[Array, Array]:
        """(action, log_prob) for float32 [N, P]: the torch pair's, to float tolerance."""

    def numpy_mode(self, parameters: Array) -> Array: ...


class Actor(Protocol):
    """Chooses actions, once per vector step; allocates no tensor that it can do without."""

    def start(self, n_envs: int) -> Any: ...  #: the carry before the first step, or None

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act: ...

    def metrics(self) -> Mapping[str, float]: ...  #: to log now (`rollout/exploration_rate`)


class Noise(Protocol):
    """Exploration around another actor (epsilon-greedy, Ornstein-Uhlenbeck, parameter noise)."""

    def wrap(self, actor: Actor, policy: nn.Module) -> Actor: ...


class Algorithm(Stateful, Protocol):
    """State and order of updates, built once per run as `factory(config, run)`. Its state is what
    the kernel does not know of: targets, counters. One with a method `explore(actor)` wraps the
    actor of training, outside of any noise."""

    policy: nn.Module

    @staticmethod
    def heads(config: Any, run: Any) -> Any:
        """What it asks the policy component for, before the policy exists."""

    def steps_per_collect(self) -> int: ...  #: vector steps in one collection
    def extras(self) -> Mapping[str, Field]: ...  #: fields that its actor adds to every step

    def actor(self, rng: np.random.Generator | None = None) -> Actor:
        """A new actor; it draws from `rng`, or from the run's stream `actor` (the collector's)."""

    def batches(self, storage: Storage) -> Iterable[Batch]:
        """What to learn from now: epochs of minibatches, samples; none before learning starts."""

    def update(self, batch: Batch, optimise: Optimise) -> Update: ...


class Storage(Stateful, Protocol):
    """Keeps steps. Memory is allocated once, in `open`."""

    def open(self, schema: Schema) -> None: ...
    def add(self, step: Step) -> None: ...
    def restart(self) -> None: ...  #: a collection was cut short: what it left is not whole
    def __len__(self) -> int: ...  #: transitions that can be sampled now
    def feedback(self, batch: Batch, update: Update) -> None: ...  #: after every update


@runtime_checkable
class ReplayStorage(Storage, Protocol):
    """Keeps many collections and samples from them in four stages."""

    def decorate(self, decorator: Decorator) -> None: ...  #: its stages are handed over to it
    def sample(self, batch_size: int) -> Batch: ...


@runtime_checkable
class Decorator(Stateful, Protocol):
    """Takes some of the sampling stages of a base storage: it has the method of each (`choose(n)`,
    `window(index, length)`, `relabel(window)`, `fold(window)`); see the README of `replay`."""

    def open(self, base: Any, schema: Schema) -> None: ...
    def added(self, slots: Array) -> None: ...  #: by the base's `add`: slots of new transitions
    def feedback(self, batch: Batch, update: Update) -> None: ...


class OptimiserStep(Stateful, Protocol):
    """Drives one group's objective (a gradient, a Fisher product, another evaluation) and moves
    its parameters."""

    def step(self, objective: Objective) -> Loss: ...


class Communicator(Protocol):
    """What ranks agree through: all of them call, and get the same. The identity in one process."""

    rank: int
    size: int

    def mean(self, tensor: Tensor) -> Tensor: ...  #: over ranks, of the same shape on each
    def agree(self, value: Any) -> Any: ...  #: rank 0's: for all that steers control flow
    def gather(self, value: Any) -> list[Any]: ...  #: every rank's, in the order of ranks


class Collector(Stateful, Protocol):
    """Gathers experience: steps the environments into the storage."""

    def collect(self) -> bool: ...  #: False if a listener stopped the run
    def forget(self) -> None: ...  #: the next collection begins with a reset


class Serializer(Protocol):
    """Keeps a State in a file. A write that fails leaves what was there; reading runs nothing, and
    is a BadFile with the file's name for whatever it cannot vouch for. A place is a file, with or
    without its suffix, or a run folder: `best_model`, `model`, else the newest checkpoint."""

    suffix: str

    def find(self, place: Path, best: bool = False) -> Path | None: ...  #: its file of a place
    def write(self, path: Path, state: State) -> None: ...
    def read(self, path: Path) -> State: ...
    def manifest(self, path: Path) -> State: ...  #: the part of that name, without tensors


class PresetSource(Protocol):
    """Tuned settings by algorithm and environment, as dotted keys."""

    def find(self, algo: str, env: str) -> Mapping[str, Any] | None: ...


#: The protocol of every kind whose components are made as instances of a class.
OF_KIND: Mapping[str, type] = {
    "algorithms": Algorithm,
    "policies": PolicyBuilder,
    "distributions": Distribution,
    "noises": Noise,
    "storages": Storage,
    "serializers": Serializer,
    "optimisers": OptimiserStep,
    "presets": PresetSource,
}


def methods(kind: str, stages: Iterable[str] = ()) -> set[str]:
    """What a component of this kind must have; one that decorates, a method of each stage too."""
    protocol = Decorator if stages else OF_KIND.get(kind, object)
    public = {name for name in dir(protocol) if name == "__len__" or not name.startswith("_")}
    return public | set(stages)


def members(made_by: type) -> set[str]:
    """What instances of a class have, as far as it tells: also what any `__init__` may set."""
    inits = [vars(base).get("__init__") for base in made_by.__mro__]
    names = [init.__code__.co_names for init in inits if isinstance(init, FunctionType)]
    return set(dir(made_by)).union(*names)
