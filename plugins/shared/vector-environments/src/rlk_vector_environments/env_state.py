"""The state of one environment, so that a resumed run continues in the middle of an episode.

The wrapper chain is saved layer by layer. If a layer's class has `get_state` and `set_state`, these
are used (and its `np_random` is saved as well); if it has `has_whole_state`, they include the state
of everything inside it. Otherwise a layer's instance attributes are saved, as far as they can be
(`state_values`), with the generators of its spaces. `attributes` says what a new environment
remakes by itself. Anything else is refused (a physics engine, a view of an array, a function that
is not the one from the constructor), because a state that is almost right is worse than a new
episode.

If the new environment was made with equal settings (`how_made`), everything is restored. If they
differ or are not known, an attribute that nothing had changed since the constructor keeps the value
that the new constructor gave it. What a file cannot hold begins a new episode.

A state is JSON and numpy arrays, and restoring one runs only `set_state`. It chooses no file: a
text that may name one is saved and restored only if the constructor set that text, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk_vector_environments import attributes, file_names, how_made
from rlk_vector_environments.state_values import (
    UNKNOWN,
    Enums,
    Seen,
    Unsupported,
    decode,
    digest,
    encode,
    encoded_alone,
    texts,
)

__all__ = ["Unsupported", "capture", "restore"]


#: For an error while restoring.
_NEW_EPISODES = "A model (model.zip) of the same run begins new episodes."


class _Layer(NamedTuple):
    """The saved state of one layer."""

    attributes: dict[str, Any]
    generators: dict[str, Any]  #: of its spaces, by path
    own: list[Any]  #: the result of its `get_state`, if it has one
    remade: set[str]  #: the attributes that a new environment remakes
    as_made: set[str]  #: those of `attributes` that nothing had changed
    deleted: set[str]  #: the attributes that the constructor had set, and that were gone


class _NewLayer(NamedTuple):
    """The state of one layer of the new environment."""

    attributes: dict[str, Any]
    nodes: dict[str, Any]  #: the same, each as `encoded_alone` has it
    as_made: set[str]  #: those that nothing has changed since the environment was made
    enums: Enums


_State = _Layer | _NewLayer


def capture(env: gym.Env[Any, Any]) -> dict[str, Any]:
    """The state of an environment and its wrappers, as a copy.

    Raises:
        Unsupported: if a state cannot be captured; names the layer, the attribute and its value.
    """
    seen = Seen()
    layers = [_captured(layer, seen) for layer in _layers(env)]
    return {"layers": layers, "settings": _settings(env)}


def restore(env: gym.Env[Any, Any], state: dict[str, Any]) -> None:
    """Restore a captured state into an environment of the same kind; it needs no reset before.

    Raises:
        Unsupported: if the wrapper chains differ, or the state is not one of `capture`, or it would
            choose a file; then nothing has been changed. Also if a layer's own `set_state` raises
            it; then this layer and those around it may have been changed.
    """
    layers = list(_layers(env))
    found = [type(layer).__name__ for layer in layers]
    try:
        taken = [str(saved["class"]) for saved in state["layers"]]
        if taken != found:
            raise Unsupported(f"a state of {' > '.join(taken)} does not fit {' > '.join(found)}")
        decoded = _decoded(layers, state["layers"])
        before, now = state["settings"], _settings(env)
        settings_differ = now is None or now != before
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        damage = f"{type(error).__name__}: {error}"
        raise Unsupported(f"a saved environment state is damaged: {damage}") from error
    pairs = list(zip(layers, decoded, strict=True))
    restored = [_restored(layer, saved, settings_differ) for layer, saved in pairs]
    for (layer, saved), values in zip(pairs, restored, strict=True):
        _put(layer, saved, values)
    _silence_checker(env)


# ---- saving --------------------------------------------------------------------------------------


def _captured(layer: Any, seen: Seen) -> dict[str, Any]:
    name, own = type(layer).__name__, _has_own_state(layer)
    note, enums = how_made.of(layer), _enums(layer)
    kept = {
        k: v for k, v in attributes.state(layer).items() if not own or k.startswith("_np_random")
    }
    if not own:
        _refuse_other_code(layer, note)
    saved: dict[str, Any] = {
        "class": name,
        "attributes": {k: encode(v, f"{name}.{k}", seen, enums) for k, v in kept.items()},
        "configuration": list(attributes.remade(layer)),
        "as_made": _unchanged(layer, kept, note) if note else [],
        "deleted": sorted(note.digests.keys() - vars(layer).keys()) if note else [],
        "generators": {
            path: encode(generator, f"{name}.{path}", seen, enums)
            for path, generator in attributes.generators_in(layer).items()
            if note is None or note.generators.get(path) != digest(encoded_alone(generator, enums))
        },
    }
    if own:
        saved["own"] = encode(layer.get_state(), f"{name}.get_state()", seen, enums)
    return saved


def _unchanged(layer: object, kept: dict[str, Any], note: how_made.Made) -> list[str]:
    """The attributes that are as the constructor set them; Unsupported if another names a file."""
    found = []
    for key, value in kept.items():
        node = encoded_alone(value, note.enums)
        if note.digests.get(key) == digest(node):
            found.append(key)
        else:
            hint = "To save it, give that class get_state() and set_state(state)."
            file_names.refuse(layer, key, texts(node), set(), hint)
    return found


def _refuse_other_code(layer: object, note: how_made.Made | None) -> None:
    """Raise Unsupported for a function, class or module that the constructor did not set."""
    for key, value in attributes.remade(layer).items():
        code = attributes.code_in(value)
        if note is None:
            is_other = any(getattr(one, "__self__", None) is layer for one in code)
        else:
            is_other = code != [reference() for reference in note.code.get(key, ())]
        if code and is_other:
            raise Unsupported(
                f"{type(layer).__name__}.{key} holds {value!r:.80}, which a file does not hold. To "
                "save it, give that class get_state() and set_state(state)."
            )


# ---- restoring -----------------------------------------------------------------------------------


def _decoded(layers: list[Any], states: list[dict[str, Any]]) -> list[_Layer]:
    seen: list[Any] = []
    found = []
    for layer, saved in zip(layers, states, strict=True):
        enums = _enums(layer)
        values = {k: decode(node, seen, enums) for k, node in saved["attributes"].items()}
        nodes = saved["generators"]
        generators = {path: decode(node, seen, enums) for path, node in nodes.items()}
        own = [decode(saved["own"], seen, enums)] if "own" in saved else []
        found.append(
            _Layer(
                values,
                generators,
                own,
                remade={str(key) for key in saved["configuration"]},
                as_made={str(key) for key in saved["as_made"]},
                deleted={str(key) for key in saved["deleted"]},
            )
        )
        _refuse_foreign(layer, values)
        if not all(isinstance(value, np.random.Generator) for value in generators.values()):
            raise ValueError("a space has something else than a random generator")
    return found


def _refuse_foreign(layer: object, values: dict[str, Any]) -> None:
    """Raise Unsupported for an attribute that `capture` never saves, such as a method's name."""
    for key in values:
        if key in attributes.left_out(layer) or callable(getattr(type(layer), key, None)):
            name = f"{type(layer).__name__}.{key}"
            raise Unsupported(f"a saved environment state has {name}, which is not a state")


def _restored(layer: object, saved: _Layer, settings_differ: bool) -> dict[str, Any]:
    """The attributes of the state that a layer will have, in the order in which they were saved.

    They are the saved ones. The exceptions are what a constructor with other settings sets, and
    what exists on one side alone:

        saved           new             value
        as it was made  as it was made  the saved one (*)
        as it was made  changed, none   the saved one
        changed         any, none       the saved one
        deleted         as it was made  none
        none            as it was made  the new one
        none            changed         none; the new one if a file cannot hold it

    (*) The new one if the settings differ, or if the saved one has a text that the new one lacks.
    What was remade when the state was captured stays as it is.

    Args:
        layer: the new one.
        saved: its saved state.
        settings_differ: whether they may. If not, what differs was drawn at random.

    Raises:
        Unsupported: if one would choose a file.
    """
    new = _new_layer(layer)
    found = {}
    for key in [*saved.attributes, *sorted(new.attributes.keys() - saved.attributes.keys())]:
        if key in saved.attributes:
            source: _State | None = _source_of_saved(layer, key, saved, new, settings_differ)
        else:
            source = _source_of_unsaved(key, saved, new)
        if source is not None:
            found[key] = source.attributes[key]
    return found


def _new_layer(layer: object) -> _NewLayer:
    present, enums, note = attributes.state(layer), _enums(layer), how_made.of(layer)
    digests = note.digests if note else {}
    nodes = {key: encoded_alone(value, enums) for key, value in present.items()}
    as_made = {key for key, node in nodes.items() if digests.get(key) == digest(node)}
    return _NewLayer(present, nodes, as_made, enums)


def _source_of_saved(
    layer: object, key: str, saved: _Layer, new: _NewLayer, settings_differ: bool
) -> _State:
    """The state from which an attribute that was saved gets its value."""
    node = encoded_alone(saved.attributes[key], new.enums)
    if node is UNKNOWN:  # it could hide a text
        raise Unsupported(
            f"a saved environment state is damaged: no value of {key!r}. {_NEW_EPISODES}"
        )
    if key not in saved.as_made & new.as_made:
        present = texts(new.nodes.get(key))
        file_names.refuse(layer, key, texts(node), present, _NEW_EPISODES)
        return saved
    is_equal = digest(node) == digest(new.nodes[key])
    has_other_texts = bool(texts(node) - texts(new.nodes[key]))
    return new if not is_equal and (settings_differ or has_other_texts) else saved


def _source_of_unsaved(key: str, saved: _Layer, new: _NewLayer) -> _State | None:
    """The same for one that was not saved; None if it is removed, or stays because it is remade.

    A constructor with other settings may set other attributes.
    """
    if key in new.as_made and key not in saved.deleted:
        return new
    if new.nodes[key] is not UNKNOWN or key in saved.remade:
        return None
    return new


def _put(layer: Any, saved: _Layer, values: dict[str, Any]) -> None:
    # An attribute that held a renderer when it was captured may be None here, and is kept.
    for key in [] if saved.own else attributes.state(layer).keys() - saved.remade:
        del vars(layer)[key]
    vars(layer).update(values)
    for path, space in attributes.spaces_in(layer):
        if path in saved.generators:
            space._np_random = saved.generators[path]
    if saved.own:
        layer.set_state(saved.own[0])


def _silence_checker(env: Any) -> None:
    """Mark Gymnasium's checker as done: it would compare the next step with a missing reset."""
    for layer in attributes.layers(env):
        if isinstance(layer, gym.wrappers.PassiveEnvChecker):
            layer.checked_reset = layer.checked_step = True
            if hasattr(layer, "checked_data_reuse"):
                layer.checked_data_reuse = True


# ---- both ----------------------------------------------------------------------------------------


def _layers(env: gym.Env[Any, Any]) -> Iterator[gym.Env[Any, Any]]:
    """The environment and its wrappers, without Gymnasium's checker, which changes nothing."""
    for layer in attributes.layers(env):
        if not isinstance(layer, gym.wrappers.PassiveEnvChecker):
            yield layer
        if getattr(type(layer), "has_whole_state", False):
            return


def _settings(env: Any) -> str | None:
    """The settings with which an environment was made, as one text; None if they are unknown."""
    note = how_made.of(env)
    return note.settings if note else None


def _has_own_state(layer: object) -> bool:
    return {"get_state", "set_state"} <= set(dir(type(layer)))


def _enums(layer: object) -> Enums:
    """The classes of Enum that a layer knew when it was made, or now if that was not noted."""
    note = how_made.of(layer)
    return note.enums if note else how_made.enums_of(layer)
