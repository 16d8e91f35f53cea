"""What a component may be able to do beyond its kind, as protocols: the kernel asks by `offers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rlk.protocols import Actor, Decorator, State, names_of

if TYPE_CHECKING:
    from torch import nn

    from rlk.records import Array


def offers(part: object, protocol: type) -> bool:
    """Whether a part has everything that a protocol names.

    Attributes that a wrapper delegates (`__getattr__`) count, which `isinstance` does not see.
    """
    annotated = vars(protocol).get("__annotations__", {})
    return all(hasattr(part, name) for name in (*names_of(protocol), *annotated))


class Explores(Protocol):
    """An algorithm that explores by itself: it wraps the actor of training, around any noise."""

    def explore(self, actor: Actor) -> Actor: ...


class TellsProbabilities(Protocol):
    """An actor whose policy is stochastic: it tells how likely actions are, of B observations.

    The arguments are those of `act`; `Agent.action_probability` says what is returned.
    """

    def probabilities(
        self, observation: Any, carry: Any, episode_start: Array
    ) -> Array | list[Array]: ...

    #: float [B], of actions [B, *shape] as the environment has them
    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array: ...


class BeginsCollections(Protocol):
    """An actor that a collector asks at the beginning of each collection; it draws noise anew.

    It is given its carry, and the collector goes on with what it returns.
    """

    def begin(self, carry: Any) -> Any: ...


def beginning(actor: Actor) -> Callable[[Any], Any]:
    """carry -> the carry with which a collection begins: `actor.begin`, if it has one.

    Collectors ask it for the actor of training, and an actor around another one for that; both
    once, because looking an ability up takes longer than a small step.
    """
    begins: Any = actor
    return begins.begin if offers(actor, BeginsCollections) else _as_it_is


def _as_it_is(carry: Any) -> Any:
    return carry


class FollowsPolicy(Protocol):
    """An actor whose action is a function of policy and observation; it carries nothing.

    It takes another policy, such as a perturbed one. Algorithms with such an actor say so
    (`Component.deterministic`).
    """

    def with_policy(self, policy: nn.Module) -> Actor: ...  #: acts by that one, otherwise alike


class AsksEnvironment(Protocol):
    """A storage that asks the environment questions (`Schema.make_env`), for its rewards say."""

    def environment_changed(self) -> None: ...  #: there is another one now; PlanError if unfit


class ToldOfResets(Protocol):
    """A storage that is told where environments are reset though no episode has ended."""

    def interrupt(self) -> None: ...  #: whatever is added next begins new episodes


class ForeseesUpdates(Protocol):
    """An algorithm that knows about how many updates follow from so many timesteps from now on.

    It says too how many transitions each takes; None if that is decided by what happens.
    """

    def updates_ahead(self, timesteps: int) -> tuple[int, int] | None: ...


class Filterable(Protocol):
    """A policy module that takes the filters of `rlk_filter_observation`."""

    def add_filter(self, module: nn.Module) -> None: ...


class Decorated(Protocol):
    """A base storage that decorators take stages of; it is called with each, in their order."""

    def decorate(self, decorator: Decorator) -> None: ...


class AdoptsReplays(Protocol):
    """A storage that begins anew with what another of its component has saved, of any size."""

    def adopt(self, state: State) -> None: ...


class AdoptsVectors(Protocol):
    """A vector backend that adopts vector environments of others, in the form of rlk.protocols."""

    def adopt(self, env: Any, *, info_keys: Sequence[str] = ()) -> Any: ...


class ChangesSpaces(Protocol):
    """A wrapper of a vector whose environments have other spaces in it: its factory says which.

    It is given the component's config last, if it has one. It is asked while planning, so the
    module of the factory must not import torch.
    """

    def vector_spaces(
        self, observation_space: Any, action_space: Any, *config: Any
    ) -> tuple[Any, Any]: ...


class WrapsVectors(ChangesSpaces, Protocol):
    """A wrapper of one environment that wraps a finished vector of environments as well.

    Where a vector was passed, its environments are out of reach. So the wrapper's factory says
    which spaces one environment has then, and wraps the vector as a whole.
    """

    def around_vector(self, env: Any, *config: Any) -> Any: ...


class WantsKeywords(Protocol):
    """A wrapper of environments that are made with certain keywords, as `render_mode`.

    Its factory says which; it is given the component's config, if it has one.
    """

    def env_keywords(self, *config: Any) -> Mapping[str, Any]: ...


class KeepsEnvironmentState(Protocol):
    """A vector environment whose state goes into a checkpoint.

    `get_state` gives a state per environment, None for one that has none, or None for all.
    """

    def get_state(self) -> list[Any] | None: ...
    def set_state(self, states: list[Any]) -> None: ...


class HasMetrics(Protocol):
    """A storage, base or decorator, or a vector environment, with numbers to log.

    They are asked for at every row, such as one that is scheduled.
    """

    def metrics(self) -> Mapping[str, float]: ...  #: now, by tag (`train/…`)


class Discounts(Protocol):
    """Settings of an algorithm with a discount per step; storages of the others are given 1."""

    gamma: float


class KeepsInfos(Protocol):
    """Settings of a storage that keeps numbers of the infos with every step."""

    info_keys: Sequence[str]


class ListsNames(Protocol):
    """A NameSource that lists the names it answers to, for error messages."""

    def known(self) -> Iterable[str]: ...


class NamedAgain(Protocol):
    """What makes an environment, where its name is not all that a new process needs to find it."""

    again: str | None  #: what `--env` must be given; "" if the name will do, None if nothing does


class ExplainsAbsence(Protocol):
    """A PresetSource that says why it passes over settings that it has; None where it does not."""

    def why_not(self, algo: str, env: str) -> str | None: ...
