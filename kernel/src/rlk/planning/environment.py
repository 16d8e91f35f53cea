"""Choosing an environment, and functions that make it, here or in a worker.

A component of the kind `environments` is a function of a name (`protocols.NameSource`): it returns
None, or a callable that makes a new environment from keywords at every call. That callable is sent
to workers and imports no torch, and neither does this module. A component that runs code which the
name points to declares it with `runs_code`; saved models are never loaded by it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.abilities import NamedAgain, WrapsVectors, offers
from rlk.errors import PlanError, RlkError, described
from rlk.plain_values import object_in, plain
from rlk.planning.passed_environment import code_place_of, registered_as
from rlk.signatures import keywords_instead, without_suggestion

if TYPE_CHECKING:
    import gymnasium as gym

    from rlk.planning.choice import Choice
    from rlk.registry.entry import Entry
    from rlk.registry.registries import Registries


@attrs.frozen
class EnvChoice:
    """An environment, as a plan holds it."""

    name: str  #: what the user wrote, or the name of the object that was passed
    kwargs: Mapping[str, Any] = attrs.field(factory=dict)
    #: Makes one environment from keywords; None if one was passed that is made already.
    maker: Callable[..., Any] | None = attrs.field(default=None, eq=False)
    #: The finished environment, or vector of environments, that a program passed.
    passed: Any = attrs.field(default=None, eq=False, kw_only=True)
    source: str = ""  #: the component that resolves the name; empty for an object
    #: The value to type again for `--env` when the saved run is used: nothing, or a place; None for
    #: an object, which only a program can pass.
    again: str | None = ""
    #: Why only its spaces are there, already in the wrappers of one environment.
    why_spaces_alone: str = ""

    @property
    def note(self) -> str:
        """A sentence for who acts, if only the spaces are there, else ""."""
        why = self.why_spaces_alone
        about = f"environment {self.name!r} is not needed to act, only its spaces"
        return f"{about}: {why}" if why else ""

    @property
    def is_vector(self) -> bool:
        """Whether it is a finished vector environment."""
        return hasattr(self.passed, "num_envs")

    @property
    def is_finished(self) -> bool:
        """Whether it was passed as an environment or a vector, not as a maker of one."""
        return self.maker is None

    @property
    def size(self) -> int | None:
        """The number of environments, if it is finished; None if it is still to be made."""
        if self.is_vector:
            return int(self.passed.num_envs)
        return 1 if self.is_finished else None

    def takes_keywords_of(self, name: str) -> bool:
        """Whether keywords for an environment of that name apply to this one, too."""
        return self.name == name and not self.is_finished

    def make(self, **extra: Any) -> gym.Env[Any, Any]:
        """One environment, with further keywords; an environment that was passed is returned.

        Raises:
            PlanError: if its constructor does not take one of the further keywords.
        """
        if self.maker is None:
            return self.passed
        try:
            return self.maker(**{**self.kwargs, **extra})
        except TypeError as error:
            if not any(key in str(error) for key in extra):
                if instead := keywords_instead(self.maker, self.kwargs):
                    error.args = (without_suggestion(error),)
                    error.add_note(instead)
                raise
            given = ", ".join(f"{key}={value!r}" for key, value in extra.items())
            raise PlanError(
                f"environment {self.name!r} cannot be made with {given}: {error}. Let its "
                f"constructor take {' and '.join(extra)}."
            ) from error


def choose_environment(asked: Any, registries: Registries, kwargs: Mapping[str, Any]) -> EnvChoice:
    """The EnvChoice for what a user typed or passed.

    Raises:
        PlanError: if no component resolves the name, or the object is not an environment.
    """
    if isinstance(asked, EnvChoice):
        return asked
    if isinstance(asked, str):
        return _named(asked, registries, kwargs)
    if not callable(asked) and not hasattr(asked, "step"):
        raise PlanError(
            "env must be an id, a class, a callable or an environment, got "
            f"{type(asked).__name__} {asked!r:.80}.{_instead_of_list(asked)}"
        )
    registration = registered_as(asked)
    if registration is not None:
        with contextlib.suppress(PlanError):  # no component resolves that id
            found = _named(registration[0], registries, registration[1])
            return attrs.evolve(found, maker=None, passed=asked)
    registered = getattr(getattr(asked, "spec", None), "id", None)
    name = registered or getattr(asked, "__name__", type(asked).__name__)
    given = {"maker": asked} if callable(asked) else {"passed": asked}
    return EnvChoice(str(name), kwargs, **given, again=code_place_of(asked))


def _instead_of_list(asked: Any) -> str:
    """What to type instead of a list of functions that each make an environment."""
    if not isinstance(asked, (list, tuple)) or not all(map(callable, asked)):
        return ""
    return (
        f" Use n_envs={len(asked)} and pass one of these functions; if they differ, pass "
        "gymnasium.vector.SyncVectorEnv(that list, autoreset_mode='SameStep')."
    )


def _named(name: str, registries: Registries, kwargs: Mapping[str, Any]) -> EnvChoice:
    """The environment of a name that a user typed.

    An id that its package registered in this process is known to Gymnasium too, but not in every
    process: a component that always knows it comes first.
    """
    known = [
        EnvChoice(name, kwargs, maker, entry.name, _again(name, entry, maker))
        for entry, maker in registries.environments.answers(name)
    ]
    if not known:
        raise registries.environments.unanswered("environment", name)
    return next((one for one in known if one.again == ""), known[0])


def _again(name: str, entry: Entry, maker: Any) -> str | None:
    """The text that names an environment in another process; "" if its name is enough."""
    if offers(maker, NamedAgain):
        return maker.again
    return name if entry.component().runs_code else ""


@attrs.frozen
class MakeEnv:
    """Makes one environment with its wrappers, without arguments; it is sent to workers."""

    choice: EnvChoice
    wrappers: tuple[Choice, ...] = ()  #: innermost first; those of the vector are left out
    extra: Mapping[str, Any] = attrs.field(factory=dict)  #: further keywords of the environment

    @property
    def rlk_settings(self) -> Any:
        """Those of the environment and its wrappers, in JSON's types.

        None if that does not tell whether they are the same: an array or a function among them, or
        a function that makes the environment, may be another one.
        """
        if not self.choice.source and not isinstance(self.choice.maker, type):
            return None
        wrappers = (one for one in self.wrappers if one.component.wraps == "env")
        configs = {wrapper.name: settings.unstructure(wrapper.config) for wrapper in wrappers}
        found = {"env": plain(self.choice.kwargs), "wrappers": configs}
        return found if object_in(found) is None else None

    def __call__(self) -> gym.Env[Any, Any]:
        try:
            env = self.choice.make(**self.extra)
        except (PlanError, TypeError):
            adapted = self._adapted()
            if adapted is None:
                raise
            return adapted
        return self._in_wrappers(env)

    def _in_wrappers(self, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """The environment in its wrappers, which tells its own returns if they may change them."""
        wrappers = [one for one in self.wrappers if one.component.wraps == "env"]
        if not wrappers or self.choice.why_spaces_alone:
            return env
        import gymnasium as gym  # not at the top: planning begins without it

        from rlk.planning.own_returns import OwnReturns, OwnRewards, may_change_returns

        own: OwnRewards | None = None
        for wrapper in wrappers:
            if own is None and isinstance(env, gym.Env) and may_change_returns(wrapper):
                env = own = OwnRewards(env)
            env = _wrapped(env, wrapper, self.choice.name)
        return env if own is None or not isinstance(env, gym.Env) else OwnReturns(env, own)

    def _adapted(self) -> gym.Env[Any, Any] | None:
        """An environment of another interface that was made without the further keywords.

        None unless a wrapper adapts it and gives it what they say: its `render_mode`, for example.
        """
        if not self.extra or all(one.component.adapts is None for one in self.wrappers):
            return None
        env = self._in_wrappers(self.choice.make())
        return env if all(getattr(env, k, None) == v for k, v in self.extra.items()) else None


def _wrapped(env: gym.Env[Any, Any], wrapper: Choice, name: str) -> gym.Env[Any, Any]:
    """An environment of that name in a wrapper; PlanError, naming the wrapper, if that fails."""
    try:
        made: gym.Env[Any, Any] | None = wrapper.make(env)
    except RlkError:
        raise
    except Exception as error:
        cause = described(error)
        raise PlanError(f"{wrapper.title} cannot wrap environment {name!r}: {cause}.") from error
    if made is None:
        raise PlanError(f"{wrapper.title} returned None. It must return the wrapped environment.")
    return made


def vector_of(env_fns: list[MakeEnv], backend: Choice, **keywords: Any) -> Any:
    """A vector of these environments, made by the chosen backend with its settings."""
    config = {} if backend.config is None else {"config": backend.config}
    return backend.load()(env_fns, **config, **keywords)


def vector_form(env: EnvChoice, wrapper: Choice) -> WrapsVectors:
    """The form of a wrapper that wraps a whole vector; PlanError if it has none."""
    factory: Any = wrapper.load()
    if offers(factory, WrapsVectors):
        return factory
    if env.is_vector:
        raise PlanError(
            f"{wrapper.title} wraps one environment, but {env.name!r} was passed as a vector of "
            f"{env.size}. Wrap its environments before you make the vector, or pass what makes one "
            "of them (an id, a class, a function)."
        )
    raise PlanError(
        f"{wrapper.title} wraps one environment, but this backend makes those of {env.name!r} only "
        f"together. Use --vec-env dummy or subprocess, or {wrapper.without_it}."
    )
