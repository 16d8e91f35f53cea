"""What each kind of component must be able to do, as typing protocols: no base class is needed.

Dimensions: T time, N environments, B batch, F features, P size of a distribution's flat parameters.
A vector environment has no protocol here: it *is* a `gymnasium.vector.VectorEnv` with same-step
restarts. Arrays that a step returns stay valid during the next one; infos are empty but where an
episode ended, and but for `infos["kept"]` of one made with `info_keys`: `info.KEY` -> float32 [N],
at an end those of the last step. Contract suites for all are in `rlk.testing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from rlk.records import Act, Array, Batch, Field, Loss, Rollout, Schema, Step, Update

if TYPE_CHECKING:
    import gymnasium as gym
    from torch import Tensor, nn

    from rlk.optimise import Objective
    from rlk.run import Run

#: As it goes into a checkpoint: JSON values, arrays and tensors in nested dicts and lists.
State = dict[str, Any]
#: `optimise(group, loss_fn, *args)`: one step of that group's optimiser; the loss, detached.
Optimise = Callable[..., Loss]
#: The fast twin of a module: numpy in, numpy out, on the parameters' own memory.
NumpyForward = Callable[[Any], Array]


class Stateful(Protocol):
    """What has a part in a checkpoint."""

    def state_dict(self) -> State: ...
    def load_state_dict(self, state: State) -> None: ...


class Trunk(Protocol):
    """What a policy component gives an algorithm to build heads with."""

    def __call__(self, role: str, *, extra: int = 0, copies: int = 1) -> nn.Module:
        """Hidden layers on top of the encoder, with `.features`, the size of what they put out.

        Args:
            role: `pi`, `vf` or `qf`.
            extra: inputs behind the encoder's features (an action for a critic).
            copies: independent ones in one batched call: [B, F] in, [copies, B, F'] out."""


#: name -> a function that builds that head from a trunk maker.
Heads = Mapping[str, Callable[[Trunk], "nn.Module"]]


class Architecture(Protocol):
    """A policy component: the encoder that heads share, and the hidden layers of each head."""

    def encoder(self, observation_space: gym.Space[Any]) -> nn.Module:
        """From preprocessed observations (`spaces.preprocess`) to [B, F]; `.features` is F."""

    def trunk(self, role: str, features: int, *, extra: int = 0, copies: int = 1) -> nn.Module:
        """Hidden layers on top of `features` inputs; see `Trunk`."""


class Distribution(Protocol):
    """Functions on flat parameter tensors [..., P]: no objects on the hot path. `sample` takes its
    noise from outside, so that it is pure, traceable, and the same in torch and numpy."""

    parameter_size: int
    #: Shape of one action, and the dtype that storage keeps it in.
    action: Field

    def head(self, features: int) -> nn.Module:
        """The module from [B, features] to flat parameters [B, P]."""

    def noise(self, rng: np.random.Generator, batch: int) -> Array:
        """float32 [batch, ...], what one call of `sample` uses up."""

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor: ...
    def mode(self, parameters: Tensor) -> Tensor: ...
    def log_prob(self, parameters: Tensor, action: Tensor) -> Tensor: ...
    def entropy(self, parameters: Tensor) -> Tensor: ...

    def kl(self, parameters: Tensor, other: Tensor) -> Tensor:
        """KL(parameters || other), [...]."""

    def env_action(self, action: Array) -> Array:
        """What the environment gets for a stored action: clipped or scaled into its space."""

    def numpy_sample(self, parameters: Array, noise: Array) -> tuple[Array, Array]:
        """(action, log_prob) for float32 [N, P]: the torch pair's, to float tolerance."""

    def numpy_mode(self, parameters: Array) -> Array: ...


class Actor(Protocol):
    """Chooses actions, once per vector step; allocates no tensor that it can do without."""

    def start(self, n_envs: int) -> Any:
        """The carry before the first step (None if nothing lives from step to step)."""

    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act: ...

    def metrics(self) -> Mapping[str, float]:
        """What to log about it now, by tag (`rollout/exploration_rate`)."""


class Noise(Protocol):
    """Exploration around another actor (epsilon-greedy, Ornstein-Uhlenbeck, parameter noise)."""

    def wrap(self, actor: Actor, policy: nn.Module) -> Actor: ...


class Algorithm(Stateful, Protocol):
    """State and order of updates, built once per run as `factory(config, context)` (see
    `rlk.build.Context`). Its state is what the kernel does not know of: targets, counters. One
    with a method `explore(actor)` wraps the actor of training, outside of any noise."""

    policy: nn.Module

    @staticmethod
    def heads(config: Any, context: Any) -> Heads:
        """The heads this algorithm needs, before the policy exists."""

    def steps_per_collect(self) -> int:
        """Vector steps in one collection."""

    def extras(self) -> Mapping[str, Field]:
        """The fields that its actor adds to every step."""

    def actor(self, rng: np.random.Generator | None = None) -> Actor:
        """A new actor; it draws from `rng`, or from the run's stream `actor` (the collector's)."""

    def batches(self, storage: Storage) -> Iterable[Batch]:
        """What to learn from now: epochs of minibatches, samples; none before learning starts."""

    def update(self, batch: Batch, optimise: Optimise) -> Update: ...


class Storage(Stateful, Protocol):
    """Keeps steps. Memory is allocated once, in `open`."""

    def open(self, schema: Schema) -> None: ...
    def add(self, step: Step) -> None: ...

    def restart(self) -> None:
        """A collection was cut short by a listener: what it left is not whole."""

    def __len__(self) -> int:
        """Transitions that can be sampled now."""

    def feedback(self, batch: Batch, update: Update) -> None:
        """Called after every update; a no-op for most."""


@runtime_checkable
class OnPolicyStorage(Storage, Protocol):
    """Keeps one collection."""

    def latest(self) -> Rollout:
        """The last collection, as views."""


@runtime_checkable
class ReplayStorage(Storage, Protocol):
    """Keeps many collections and samples from them in four stages."""

    def decorate(self, decorator: Decorator) -> None:
        """Hand the decorator's stages of sampling over to it."""

    def sample(self, batch_size: int) -> Batch: ...


@runtime_checkable
class Decorator(Stateful, Protocol):
    """Takes some of the sampling stages of a base storage: it has the method of each (`choose(n)`,
    `window(index, length)`, `relabel(window)`, `fold(window)`); see the README of `replay`."""

    def open(self, base: Any, schema: Schema) -> None: ...

    def added(self, slots: Array) -> None:
        """These slots hold new transitions. Called from the base's `add`."""

    def feedback(self, batch: Batch, update: Update) -> None: ...


class OptimiserStep(Stateful, Protocol):
    """Drives one group's objective (a gradient, a Fisher product, another evaluation) and moves
    its parameters."""

    def step(self, objective: Objective) -> Loss: ...


class Communicator(Protocol):
    """What ranks agree through. The identity in one process."""

    rank: int
    size: int

    def mean(self, tensor: Tensor) -> Tensor:
        """The mean over ranks of a tensor of the same shape on each."""

    def agree(self, value: Any) -> Any:
        """Rank 0's value, on every rank: for everything that steers control flow."""

    def gather(self, value: Any) -> list[Any]:
        """Every rank's value, in the order of ranks, on every rank."""
        ...


class Collector(Stateful, Protocol):
    """Gathers experience; `run.collect` is this."""

    def collect(self) -> bool:
        """Step the environments into the storage; False if a listener stopped the run."""

    def forget(self) -> None:
        """Begin the next collection with a reset."""


class Serializer(Protocol):
    """Writes and reads a State; loading executes nothing from the file."""

    suffix: str

    def write(self, file: IO[bytes], state: State) -> None: ...

    def read(self, file: IO[bytes]) -> State:
        """Raises rlk.errors.BadFile for whatever it cannot vouch for."""

    def manifest(self, file: IO[bytes]) -> State:
        """The part under `manifest`, without the tensors."""


class Logger(Protocol):
    """Writes rows of metrics. Called when a row is due, never per step."""

    def open(self, run: Run) -> None: ...
    def write(self, timesteps: int, row: Mapping[str, float]) -> None: ...
    def close(self) -> None: ...


class PresetSource(Protocol):
    """Tuned settings by algorithm and environment."""

    def find(self, algo: str, env: str) -> Mapping[str, Any] | None:
        """Settings as dotted keys, or None."""
