"""Checks what hooks, and methods that are called while building, return; errors name the plugin.

None of these checks happens in a step or an update whose results are in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rlk.errors import BrokenPlugin


class Accepted(NamedTuple):
    """What a hook, or the caller of a method, accepts: a description, and a test."""

    words: str
    fits: Callable[[Any], bool]


def check_answer(hook: str, answer: Any, plugin: str) -> None:
    """Check an answer that is not None.

    Args:
        hook: the name of the hook.
        answer: the answer.
        plugin: the name of the plugin that gave it.

    Raises:
        BrokenPlugin: if the hook does not accept it.
    """
    accepted = OF_HOOKS.get(hook)
    if accepted is not None and not accepted.fits(answer):
        raise BrokenPlugin(
            f"plugin {plugin!r} answered {hook} with {answer!r:.80}. It must return "
            f"{accepted.words}, or None.{_make_one(answer)}"
        )


def check_given(title: str, method: str, given: Any) -> None:
    """Check the result of a component's method.

    A loop that has no time for this calls it only for a result that looks wrong.

    Args:
        title: of the component, or of another owner of the method.
        method: a key of `OF_METHODS`.
        given: the result.

    Raises:
        BrokenPlugin: if it is not what `OF_METHODS` describes.
    """
    if not OF_METHODS[method].fits(given):
        raise BrokenPlugin(
            f"{title}: {method}() returned {given!r:.80}. It must return "
            f"{OF_METHODS[method].words}.{_make_one(given)}"
        )


def _make_one(found: Any) -> str:
    """What to do about a class in place of an instance."""
    return f" Make one of the class: {found.__name__}(…)." if isinstance(found, type) else ""


def _has(*names: str) -> Callable[[Any], bool]:
    """A test whether an object has all these attributes, and is not a class."""
    return lambda answer: (
        not isinstance(answer, type) and all(hasattr(answer, name) for name in names)
    )


def _is_any(protocol: str, *others: str) -> Callable[[Any], bool]:
    """A test whether an object has the methods that a protocol shares with the others."""

    def fits(answer: Any) -> bool:
        from rlk import protocols  # not at the top: what only lists components starts without it
        from rlk.required_methods import names_of

        wanted = [names_of(getattr(protocols, name)) for name in (protocol, *others)]
        return _has(*frozenset.intersection(*wanted))(answer)

    return fits


def _is_update(answer: Any) -> bool:
    from rlk.records import Update  # not at the top: it needs torch

    return isinstance(answer, Update)


def _is_text(answer: Any) -> bool:
    return isinstance(answer, str)


def _is_state(answer: Any) -> bool:
    return isinstance(answer, dict) and _can_be_kept(answer)


def _can_be_kept(value: Any) -> bool:
    """Whether every serializer can store a value of a state."""
    if isinstance(value, dict):
        return all(map(_is_text, value)) and all(map(_can_be_kept, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_can_be_kept, value))
    if hasattr(value, "dtype"):  # an array, whose numbers have a kind, or a tensor
        return getattr(value.dtype, "kind", "f") in "biufc"
    return value is None or isinstance(value, (bool, int, float, str))


_MODULE = _has("forward", "named_parameters", "named_buffers")
_ACTOR = Accepted("an actor, with start, act and metrics (rlk.protocols.Actor)", _is_any("Actor"))
_COMMUNICATOR = Accepted("a communicator (rlk.protocols.Communicator)", _is_any("Communicator"))
_STATE = Accepted("a dict, by texts, of JSON values, arrays of numbers and tensors", _is_state)
_WRAPPER = "a function that takes the one inside it and returns another"

#: What is accepted of every hook; where a hook takes lists, of each member.
OF_HOOKS: Mapping[str, Accepted] = {
    "rlk_configure": Accepted("a Patch (rlk.planning.spec)", _has("values", "reason")),
    "rlk_check_plan": Accepted(
        "a sentence on what forbids the plan", lambda answer: _is_text(answer) and bool(answer)
    ),
    "rlk_policy_space": Accepted("an observation space", _has("contains", "sample")),
    "rlk_settle_plan": Accepted("the plan, or another one", _has("choices", "hooks")),
    "rlk_take_over": Accepted("an exit code", lambda answer: type(answer) is int),
    "rlk_make_policy": Accepted("a torch.nn.Module", _MODULE),
    "rlk_filter_observation": Accepted("a torch.nn.Module", _MODULE),
    "rlk_make_storage": Accepted(
        "a storage, or what decorates one", _is_any("Storage", "Decorator")
    ),
    "rlk_make_actor": _ACTOR,
    "rlk_check_observation": Accepted("a function of a batch of observations", callable),
    "rlk_make_collector": Accepted("a collector (rlk.protocols.Collector)", _is_any("Collector")),
    "rlk_make_optimiser": Accepted(
        "what takes steps (rlk.protocols.OptimiserStep)", _is_any("OptimiserStep")
    ),
    "rlk_make_communicator": _COMMUNICATOR,
    "rlk_wrap_communicator": Accepted(
        "a function that takes a communicator and returns another", callable
    ),
    "rlk_wrap_collector": Accepted(_WRAPPER, callable),
    "rlk_wrap_add": Accepted(_WRAPPER, callable),
    "rlk_wrap_loss": Accepted(_WRAPPER, callable),
    "rlk_wrap_update": Accepted(_WRAPPER, callable),
    "rlk_should_stop": Accepted("the reason why the run is to end, as a text", _is_text),
    "rlk_save": _STATE,
    "rlk_save_with_model": _STATE,
}

#: What is accepted of the methods of components.
OF_METHODS: Mapping[str, Accepted] = {
    "heads": Accepted("what the policy is to be built with", lambda given: given is not None),
    "build": Accepted("a torch.nn.Module", _MODULE),
    "actor": _ACTOR,
    "act": Accepted(
        "an Act (rlk.records), of action, env_action, carry and extras",
        _has("action", "env_action", "carry", "extras"),
    ),
    "wrap": _ACTOR,
    "wrap_communicator": _COMMUNICATOR,
    "explore": _ACTOR,
    "steps_per_collect": Accepted(
        "a whole number, at least 1", lambda given: hasattr(given, "__index__") and given >= 1
    ),
    "collect": Accepted(
        "True, or False where a listener stopped the run", lambda given: given is not None
    ),
    "batches": Accepted(
        "batches to iterate over, or [] where there is nothing to learn from yet",
        lambda given: given is not None,
    ),
    "update": Accepted("rlk.records.Update(metrics={…})", _is_update),
    "state_dict": _STATE,
    "extras": Accepted(
        "a dict of rlk.records.Field, which may be empty", lambda given: isinstance(given, Mapping)
    ),
}
