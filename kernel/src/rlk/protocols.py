"""What each kind of component must be able to do, as typing protocols: no base class is needed.

Dimensions: N environments, P parameters. A vector environment has no protocol here, because it *is*
a `gymnasium.vector.VectorEnv` with same-step restarts. The arrays that a step returns stay valid
during the next step. Its infos are empty except where an episode ended. A backend made with
`info_keys` also returns `infos["kept"]`: `info.KEY` -> float32 [N], where an episode ended that of
its last step, and NaN where an info does not have the key. The options of a reset, without
`reset_mask`, are for the environments, or are refused. `render` returns a frame of every
environment, and `close` closes all of them.

A wrapper of the vector hands on what it does not change: seeds and options of a reset, infos, the
kind of every end, and `close`. It changes final observations as if their episodes went on, writes
to no array that the vector inside has returned, and learns and records nothing if it is made with
`training=False`.

A wrapper of one environment has none either, because it is a `gymnasium.Env`. It hands on what it
does not change: the options of a reset, the infos, and `terminated` and `truncated`, which stay
apart. What it changes it returns as a new array, and it writes neither into the arrays of the
environment nor into those that it returned before.

`rlk.abilities` has what a component may be able to do beyond its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVarTuple

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from torch import Tensor, nn

    from rlk.optimise import Objective
    from rlk.records import Act, Array, Batch, Field, Loss, Schema, Step, Update
    from rlk.running.run import Run

#: What goes into a checkpoint: JSON values, numpy's numbers, arrays and tensors in nested dicts and
#: lists.
State = dict[str, Any]
Arguments = TypeVarTuple("Arguments")


class Optimise(Protocol):
    """How an update moves parameters: see `optimise.Optimiser`."""

    def __call__(
        self, group: str, loss_fn: Callable[[*Arguments], Loss], *args: *Arguments
    ) -> Loss: ...


class Stateful(Protocol):
    """Has a state, which is saved in checkpoints.

    `load_state_dict` copies what it takes over: the state belongs to others, who may load it again.
    What `state_dict` returns may be views of the part's memory, to be used before its next step.

    A file may hold anything. So before `load_state_dict` is called, the saved state is compared
    with what `state_dict` of the new part returns (`saving/state_check.py`), and refused unless

    - a value has the same type: a dict, a list or tuple, text, bool, int (which is accepted for a
      float), float, array or tensor;
    - arrays and tensors have the same dtype and the same shape, except that the first axis of a
      numpy array may have another length, because some memory grows;
    - lists of another length have items like the first one of the part's own, if all of these are
      of one type.

    Keys that only one of the two has, what is None in the new part, and the lengths of what is
    empty there are left to `load_state_dict`: it checks what it needs, and raises BadFile, or
    KeyError for a missing key.
    """

    def state_dict(self) -> State: ...
    def load_state_dict(self, state: State) -> None: ...


# ---- the kinds -----------------------------------------------------------------------------------


class PolicyBuilder(Protocol):
    """A policy component.

    The policy and the algorithm agree on what `heads` are (see `rlk_networks`). The modules that it
    builds take raw observations.
    """

    def build(self, observation_space: Any, heads: Any) -> nn.Module: ...
    def flatten(self, module: nn.Module) -> Parameters: ...  #: of a policy on its device


class Parameters(Stateful, Protocol):
    """The trainable parameters of a module, as views of one tensor.

    A state maps names to values. Loading one whose names or shapes do not fit raises RlkError and
    changes nothing.
    """

    module: nn.Module
    names: list[str]  #: in the order of `flat`
    flat: Tensor  #: float [P], of one dtype on one device, outside autograd

    def clone(self) -> Parameters: ...  #: of a copy of the module, without gradients: a target
    def adopt(self) -> None: ...  #: makes views again of parameters whose memory was replaced
    def check(self) -> None: ...  #: RlkError if one is no view of `flat`, or was unfrozen since
    def select(self, prefixes: Iterable[str] | None = None) -> tuple[list[nn.Parameter], Tensor]:
        """The parameters under these names, and the contiguous range of `flat` they fill.

        None selects all of them.
        """


class Actor(Protocol):
    """Chooses actions, once per vector step; it creates as few tensors as possible.

    It writes into none of its arguments, and acts for each environment by that one's alone.
    """

    def start(self, n_envs: int) -> Any: ...  #: the carry before the first step, or None
    def metrics(self) -> Mapping[str, float]: ...  #: to log now (`rollout/exploration_rate`)
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act: ...


class Noise(Protocol):
    """Exploration around another actor (epsilon-greedy, Ornstein-Uhlenbeck, parameter noise).

    State that lives from step to step is in its actor's carry. That actor passes on `begin`, with
    which the inner actor may begin a collection (`rlk.abilities.beginning`), and what the inner
    actor logs and adds to a step (`Act.extras`). It draws from a stream of its own, such as
    `run.streams.numpy("noise")`, and writes into nothing that it is given, neither arguments nor
    the inner actor's act. If a noise is also `Stateful`, every model holds its state, such as a
    strength that it adapts.
    """

    def wrap(self, actor: Actor, policy: nn.Module) -> Actor: ...


class Algorithm(Protocol):
    """State and order of updates, built once per run as `factory(config, run)`.

    `config` is None for an algorithm without settings, here and in `heads`. Parameters move by
    `optimise` alone. Observations may be dicts, unless its component declares others.

    It chooses the types of its storage and of its batches, which stand as Any here, because the
    kernel only passes them on.

    If it is also `Stateful`, its state is what the kernel does not know about: targets, counters.
    Every floating-point tensor in it counts as a parameter of the agent
    (`saving/named_parameters.py`); counters are numbers.
    """

    @staticmethod
    def heads(config: Any, run: Run) -> Any: ...  #: called before the policy is built with them
    def steps_per_collect(self) -> int: ...  #: vector steps in one collection
    def extras(self) -> Mapping[str, Field]: ...  #: fields that its actor adds to every step
    def batches(self, storage: Any) -> Iterable[Any]: ...  #: to learn from now; maybe empty
    def update(self, batch: Any, optimise: Optimise) -> Update: ...
    def actor(self, rng: np.random.Generator) -> Actor:
        """A new actor, which draws its noise from `rng`."""


class Storage(Stateful, Protocol):
    """Keeps steps. Its memory is allocated once, in `open`.

    It copies a step, and writes nothing into it. The batches that a replay samples are copies too,
    with the types that were added, but float32 for float64; actions that are whole numbers may be
    of a wider type.
    """

    def open(self, schema: Schema) -> None: ...
    def add(self, step: Step) -> None: ...
    #: a collection was cut short, or may have been (after `forget`, or a restored state): what it
    #: added, if anything, is incomplete, and a replay keeps the earlier ones
    def restart(self) -> None: ...
    def __len__(self) -> int: ...  #: transitions that can be sampled now
    def feedback(self, batch: Batch, update: Update) -> None: ...  #: after every update


class Decorator(Stateful, Protocol):
    """Takes over some of the sampling stages of a base storage, with one method for each stage.

    They are `choose(n)`, `window(index, length)`, `relabel(window)` and `fold(window)`; the README
    of `replay` has the details, and `offered(index)`, which a decorator that chooses may have.
    `choose` chooses among all variants of the transitions, `slot + variant * base.slots`.
    """

    def open(self, base: Any, schema: Schema) -> None: ...
    def added(self, slots: Array) -> None:
        """There are new transitions in these slots, int64: those of the step just added, [N].

        They are all that are stored, those of the oldest step first, where the decorator joins
        later, or its state is not restored.
        """

    def feedback(self, batch: Batch, update: Update) -> None: ...  #: changes neither


class OptimiserStep(Stateful, Protocol):
    """Evaluates one group's objective, as often as it needs, and moves its parameters.

    A step with a non-finite gradient, or one that `Loss.accept` refuses, changes nothing, neither
    the parameters nor the optimiser's own state: a run that ends because of it keeps the parameters
    of the step before. What `state_dict` has returned stays as it is in later steps.

    If a run has several groups, the metrics that it adds to the loss's (`grad_norm`) are logged
    with the group's name appended.
    """

    def step(self, objective: Objective) -> Loss: ...


class Communicator(Protocol):
    """How ranks agree: every rank calls, and all get the same value."""

    rank: int
    size: int

    def mean(self, tensor: Tensor) -> Tensor: ...  #: over ranks, of the same shape on each
    def agree(self, value: Any) -> Any: ...  #: rank 0's value, for values that steer control flow
    def gather(self, value: Any) -> list[Any]: ...  #: every rank's value, in the order of ranks


class Collector(Stateful, Protocol):
    """Gathers experience: it steps the environments and fills the storage, by `run.add(step)`.

    Before each collection it calls `begin` of an actor that offers
    `rlk.abilities.BeginsCollections`. It advances the run's clock, calls the listeners of
    `rlk_step`, reports finished episodes to `run.metrics`, and raises NotFinite for a non-finite
    number of an environment. Whenever it resets the environments, it calls what
    `rlk.running.resets.told_of_resets` has found when the collector was built.
    """

    def collect(self) -> bool: ...  #: False if a listener stopped the run
    def forget(self) -> None: ...  #: the next collection begins with a reset


class Serializer(Protocol):
    """Keeps a State in one regular file, never in a folder.

    Arrays and tensors come back bit for bit, arrays in any byte order; a number of numpy comes back
    as a number. Old checkpoints are deleted, and those of a fork copied, as single files. A failed
    write leaves the old file. Reading runs no code, and raises BadFile with the file's name for
    anything that may be damaged or unsafe. `find` takes a file, its name without suffix, or a run
    folder, which stands for its `best_model`, `model`, or else its newest checkpoint.

    Files are read by every installed or registered serializer that finds one, made with its default
    settings. If several do, the first by name counts.
    """

    suffix: str

    def find(self, path: Path, best: bool = False) -> Path | None: ...  #: the file, if any
    def write(self, path: Path, state: State) -> None: ...
    def read(self, path: Path) -> State: ...
    def manifest(self, path: Path) -> State: ...  #: only the part `manifest`, without tensors


class PresetSource(Protocol):
    """Tuned settings by algorithm and environment, as dotted keys."""

    def find(self, algo: str, env: str) -> Mapping[str, Any] | None: ...


class NameSource(Protocol):
    """An `environments` or `finders` component: it resolves a name, or returns None."""

    def __call__(self, name: str, /) -> Any: ...
