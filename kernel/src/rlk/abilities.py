"""What a component may be able to do beyond its kind, as protocols, checked with `offers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rlk.errors import RlkError
from rlk.protocols import Actor, Decorator, State, Stateful
from rlk.required_methods import names_of

if TYPE_CHECKING:
    from torch import nn

    from rlk.records import Array


def offers(part: object, protocol: type) -> bool:
    """Whether a part has every member of a protocol.

    Attributes that a wrapper delegates (`__getattr__`) count; `isinstance` would not see them.
    """
    annotated = vars(protocol).get("__annotations__", {})
    return all(hasattr(part, name) for name in (*names_of(protocol), *annotated))


def state_of(part: Any) -> State:
    """The state of a part that need not have one; {} if it is not `Stateful`."""
    return part.state_dict() if offers(part, Stateful) else {}


def load_state(part: Any, state: State) -> None:
    """Give a part the state that `state_of` returned; nothing happens to one without a state."""
    if offers(part, Stateful):
        part.load_state_dict(state)


class Explores(Protocol):
    """An algorithm that explores by itself: it wraps the actor used in training, outside noises."""

    def explore(self, actor: Actor) -> Actor: ...


class TellsProbabilities(Protocol):
    """An actor of a stochastic policy: it tells how likely actions are, for B observations.

    The arguments are those of `act`; `Agent.action_probability` describes the result.
    """

    def probabilities(
        self, observation: Any, carry: Any, episode_start: Array
    ) -> Array | list[Array]: ...

    #: float [B], of actions [B, *shape] as the environment has them
    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array: ...


class BeginsCollections(Protocol):
    """An actor that is called at the beginning of each collection, to draw new noise.

    It is given its carry, and the collector continues with the carry that it returns.
    """

    def begin(self, carry: Any) -> Any: ...


def beginning(actor: Actor) -> Callable[[Any], Any]:
    """A function, carry -> the carry of a new collection: `actor.begin`, if there is one.

    Collectors get it for the training actor, and an actor that wraps another one for that; both
    only once, because looking up an ability takes longer than a small step.
    """
    begins: Any = actor
    return begins.begin if offers(actor, BeginsCollections) else lambda carry: carry


class FollowsPolicy(Protocol):
    """An actor whose action is a function of policy and observation; it carries nothing.

    It accepts another policy, such as a perturbed one. Algorithms with such an actor declare it
    (`Component.deterministic`). Who needs an actor of another policy asks the run for one,
    `run.make_actor(policy=copy)`: the actor that a plugin puts in its place offers no such method.
    """

    def with_policy(self, policy: nn.Module) -> Actor: ...  #: the same actor with that policy


def acting_by(policy: nn.Module, actor: Any, owner: str) -> Actor:
    """The actor with that policy; RlkError, naming its owner, if it acts with its own alone."""
    if not offers(actor, FollowsPolicy):
        raise RlkError(
            f"{owner}: its actor acts with the run's policy alone, not with another one "
            "(rlk.abilities.FollowsPolicy)."
        )
    return actor.with_policy(policy)


class AsksEnvironment(Protocol):
    """A storage that queries the environment (`Schema.make_env`), for example for rewards."""

    def environment_changed(self) -> None: ...  #: there is a new one; PlanError if it does not fit


class ToldOfResets(Protocol):
    """A storage, algorithm or plugin that keeps something of every unfinished episode.

    Collectors tell it of every reset, because episodes in progress end there without a last step:
    at the start, in another environment (`set_env`), after the program has stepped the environments
    or a model was restored (`rlk.running.resets`).
    """

    def interrupt(self) -> None: ...  #: the next step that is added begins new episodes


class WritesLater(Protocol):
    """A plugin that keeps what it could not write, and writes it later.

    It raises the `OSError`, as every plugin does. Once it has written everything, the run counts
    its failed writes no longer.
    """

    def has_unwritten(self, run: Any) -> bool: ...  #: whether it still keeps something of that run


class Filterable(Protocol):
    """A policy module that takes the filters of `rlk_filter_observation`."""

    def add_filter(self, module: nn.Module) -> None: ...


class RefusesTracing(Protocol):
    """A module of a policy that cannot be part of a traced graph: updates run eagerly."""

    untraceable: str  #: why, in words that follow the policy's name ("cuts sequences where …")


class Decorated(Protocol):
    """A base storage whose stages decorators can take over; it is called with each, in order.

    It tells every decorator of all transitions, also of those that are stored when one joins
    (`rlk.protocols.Decorator.added`).
    """

    def decorate(self, decorator: Decorator) -> None: ...


class AdoptsReplays(Protocol):
    """A storage that can start from a state saved by one of the same component, of any size."""

    def adopt(self, state: State) -> None: ...


class GivesObservations(Protocol):
    """A storage that returns the observations of all its transitions, as they were added.

    They come in parts: each [M, ...], or a dict of such arrays. Policies that normalise take their
    statistics from them where no environment is stepped.
    """

    def observations(self) -> Iterable[Any]: ...


class AdoptsVectors(Protocol):
    """A vector backend that adapts a finished vector environment to the form of rlk.protocols."""

    def adopt(self, env: Any, *, info_keys: Sequence[str] = ()) -> Any: ...


class ChangesSpaces(Protocol):
    """A wrapper of a vector that changes the spaces: its factory says what they become.

    The last argument is the component's config, if it has one. It is called while planning, so the
    module of the factory must not import torch.
    """

    def vector_spaces(
        self, observation_space: Any, action_space: Any, *config: Any
    ) -> tuple[Any, Any]: ...


class WrapsVectors(ChangesSpaces, Protocol):
    """A wrapper of one environment that can also wrap a finished vector of environments.

    If the user passes a vector, its single environments cannot be wrapped. The wrapper's factory
    then says which spaces one environment has, and wraps the vector as a whole.
    """

    def around_vector(self, env: Any, *config: Any) -> Any: ...


class WantsKeywords(Protocol):
    """A wrapper that needs its environments made with certain keywords, such as `render_mode`.

    Its factory returns them; it is given the component's config, if it has one.
    """

    def env_keywords(self, *config: Any) -> Mapping[str, Any]: ...


class KeepsEnvironmentState(Protocol):
    """A vector environment whose state goes into a checkpoint.

    `get_state` returns a state per environment, None for one without a state, or None for all.
    """

    def get_state(self) -> list[Any] | None: ...
    def set_state(self, states: list[Any]) -> None: ...


class HasMetrics(Protocol):
    """A storage, base or decorator, or a vector environment, with numbers to log.

    They are read for every row, for example a scheduled number.
    """

    def metrics(self) -> Mapping[str, float]: ...  #: now, by tag (`train/…`)


class Discounts(Protocol):
    """Settings of an algorithm with a discount per step; without one, storages are given 1."""

    gamma: float


class IgnoresOptions(Protocol):
    """Settings of an optimiser that does not read every option of a parameter group."""

    #: Why it ignores the option (`eps`), as words to put behind its title; "" if it reads it.
    def ignores(self, option: str) -> str: ...


class KeepsInfos(Protocol):
    """Settings of a storage that stores numbers from the infos with every step, as `info.KEY`.

    NaN stands for a key that an info does not have.
    """

    info_keys: Sequence[str]


class ListsNames(Protocol):
    """A NameSource that lists the names it can resolve, or patterns (`tiny/*`), for messages."""

    def known(self) -> Iterable[str]: ...


class AdvisesOnNames(Protocol):
    """A NameSource that says what to type for a name that no source resolved."""

    def advice(self, name: str) -> str: ...  #: a sentence, or "" if it has none for that name


class NamedAgain(Protocol):
    """A maker of environments that a new process may not find by the environment's name alone."""

    again: str | None  #: the value to type for `--env`; "" if the name is enough, None if none is


class ExplainsAbsence(Protocol):
    """A PresetSource that says why it withholds settings that it has; None if it does not."""

    def why_not(self, algo: str, env: str) -> str | None: ...
