"""Saves and loads models: rlk's checkpoints, with the data to act without an environment."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import attrs
from gymnasium.spaces import Box

from rlk.errors import BadFile
from rlk.files import replacing
from rlk.plain_values import was_callable
from rlk.planning.parse import parse_plugin
from rlk.program_warnings import warn_program
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_spaces import space_of, space_state
from rlk.saving import checkpoint
from rlk.saving.changed_parts import changed_acting
from rlk.saving.named_parameters import named_parameters
from rlk.saving.restored_parts import bad_if_it_fails, part_of
from rlk_baselines.arguments import by_current_names
from rlk_baselines.common import own_noise
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_baselines.environments.spaces import planned_spaces
from rlk_baselines.policies.registered import registered
from rlk_baselines.refusals import ParametersDoNotFit, Refused
from rlk_baselines.saved_models import added_attributes, saved_class
from rlk_baselines.saved_models.custom_objects import (
    SPACES,
    refuse_other_sizes,
    spaces_apart,
    with_use,
)
from rlk_baselines.saved_models.lost_in_files import LOST_NOISE, name_lost, refuse_lost_functions
from rlk_baselines.saved_models.pickled import as_pickle_bytes, state_in_pickle
from rlk_baselines.saved_models.places import Place, file_at, refuse_no_place, with_suffix
from rlk_baselines.tensorflow import files as tensorflow_files

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.protocols import Serializer, State
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_baselines.common.vec_env import VecEnv
    from rlk_baselines.construction import Constructed

#: The key of the data in a file that only models of this package need.
KEY = "baselines"
#: What a file holds under KEY, from `about` and `save`.
_ABOUT = (
    *("class", "policy", "policy_kwargs", "seed", "arguments", "attributes"),
    *("observation_space", "action_space", "env_id"),
)
#: The key by which a file notes that the noise was an object of a custom class.
_OWN_NOISE = "own_noise"


# ---- writing -------------------------------------------------------------------------------------


def save(
    model: BaseRLModel, place: Place, *, as_pickle: bool = False, exclude: Iterable[str] = ()
) -> None:
    """Write a model to a path or an open binary file.

    Args:
        model: the model.
        place: the path or the file.
        as_pickle: whether to write a pickle instead of a zip.
        exclude: the names of attributes to leave out, of those that the program has added.

    Raises:
        Refused: if `place` is neither.
    """
    refuse_no_place(place, "write")
    run = model.agent.run
    about = {**model.about(), "attributes": added_attributes.in_a_file(model, exclude)}
    state = {**checkpoint.model_state(run), KEY: about}
    if as_pickle:
        _write(place, as_pickle_bytes(state), ".pkl")
        return
    serializer: Serializer = run.plan.serializer.make()
    if isinstance(place, (str, os.PathLike)):
        serializer.write(with_suffix(place, ".zip"), state)
    else:
        write_to_open(place, state, serializer)


def write_to_open(file: IO[bytes], state: State, serializer: Serializer) -> None:
    """Write a state to an open file, by way of a temporary one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.zip")
        serializer.write(path, state)
        with path.open("rb") as written:
            shutil.copyfileobj(written, file)


def about(model: Constructed) -> State:
    """The data of a model that a file holds beside rlk's checkpoint, as JSON values and arrays."""
    policy = model._given["policy"]
    name = getattr(policy, "__name__", type(policy).__name__)
    had_noise = model._has_own_noise() or LOST_NOISE in model.agent.spec.learns_without
    return {
        **saved_class.named(type(model)),
        "policy": policy if isinstance(policy, str) else name,
        "policy_kwargs": model.held_policy_kwargs(model.policy_kwargs),
        "seed": None if model.seed is None else int(model.seed),
        "arguments": {name: getattr(model, name) for name in _held_names(model)},
        "observation_space": space_state(model.observation_space),
        "action_space": space_state(model.action_space),
        "env_id": model._env_id,
        **({_OWN_NOISE: True} if had_noise else {}),
    }


def _write(place: Place, data: bytes, suffix: str) -> None:
    if isinstance(place, (str, os.PathLike)):
        with replacing(with_suffix(place, suffix)) as file:
            file.write(data)
    else:
        place.write(data)


@attrs.frozen
class Saved:
    """A saved model, as read from a file."""

    path: Path  #: the file
    state: State  #: the content of the file
    given: dict[str, Any]  #: all arguments of the constructor, including `changes`
    changes: dict[str, Any]  #: the arguments that were passed to `load`

    @property
    def about(self) -> Mapping[str, Any]:
        """The data that the function `about` returned when the model was saved."""
        return self.state[KEY]

    def agent(self, model: Constructed) -> Agent:
        """The agent for a model with the arguments `given`.

        A custom noise object is not in the file.
        """
        refuse_lost_functions(type(model).__name__, self.given["policy_kwargs"])
        settings = model._changes(self.changes)
        is_registered = registered(self.given["policy"]) is not None
        if {"policy", "policy_kwargs"} & self.changes.keys() or is_registered:
            settings |= model._policy_settings()
        plan, had_own_noise = self.state["manifest"]["plan"], bool(self.about.get(_OWN_NOISE))
        if had_own_noise:
            _leave_out(plan, own_noise.NAME)
        leave_out_old_memory(plan, self.changes)
        state = {key: part for key, part in self.state.items() if key != KEY}
        agent = model._agent_of_state(state, self.path, settings)
        is_noise_lost = had_own_noise and "action_noise" not in self.changes
        name_lost(model, agent, is_noise_lost=is_noise_lost)
        for role, sentence in changed_acting(plan, agent.plan):
            if role == "policy":
                warn_program(sentence)
        return agent

    def awaited(self) -> AwaitedVecEnv:
        """A placeholder for the environments, for a model that is loaded without any."""
        spaces = (space_of(self.about[f"{name}_space"]) for name in ("observation", "action"))
        observation, action = spaces
        n_envs = int(part_of(self.state, "manifest")["plan"]["run"]["n_envs"])
        return AwaitedVecEnv(n_envs, observation, action, self.about["env_id"])


# ---- reading -------------------------------------------------------------------------------------


def read(path: Path, *, runs_code: bool = False) -> State:
    """The state in a saved zip file or pickle.

    Args:
        path: the file.
        runs_code: whether code in a pickle may run.

    Raises:
        BadFile: if the file is not a saved model, or is damaged.
    """
    if not zipfile.is_zipfile(path):
        if tensorflow_files.is_from_there(path):  # and another library's class was asked to load it
            raise BadFile(
                f"{path} is a Stable Baselines 2 model. The class of its model in rlk_baselines "
                "loads it, such as rlk_baselines.PPO2.load(FILE)."
            )
        warn_program(
            "the loaded model is a pickle. Save it without cloudpickle=True for a zip, which needs "
            "no trust and keeps longer.",
            DeprecationWarning,
        )
        return state_in_pickle(path, runs_code=runs_code)
    return zip_serializer().read(path)


def zip_serializer() -> Serializer:
    """The serializer `zip`, of all files that are not pickles, whichever others are installed."""
    return default_kernel().registries.serializers.get("zip").load()()


def parameters_in(place: Place | Sequence[Any], model: BaseRLModel) -> Mapping[str, Any]:
    """The parameters in the file of a saved model, by the names that they have in `model`.

    Args:
        place: the file, or the values of all parameters in the order of `get_parameter_list`.
        model: the model.

    Raises:
        ParametersDoNotFit: if there are more or fewer values than parameters.
        BadFile: if the file is damaged.
    """
    if isinstance(place, (list, tuple)):
        names = list(model.get_parameters())
        if len(place) != len(names):
            raise ParametersDoNotFit(
                f"load_parameters was given a list of {len(place)}, and the model has "
                f"{len(names)} parameters. Pass one value for each, in the order of "
                "get_parameter_list(), or a dict of values by name."
            )
        return dict(zip(names, place, strict=True))
    with file_at(cast(Place, place)) as path:
        if model.foreign_files.is_from_there(path):
            return model.foreign_files.parameters_in(path, model)
        state = read(path)
    parts = [part_of(state, part) for part in ("parameters", "algorithm")]
    with bad_if_it_fails("the file is damaged: its parameters cannot be read"):
        return {**named_parameters(*parts), **model.further_parameters(state)}


def load(
    cls: type[BaseRLModel],
    place: Place,
    env: Any,
    custom_objects: Mapping[str, Any],
    changes: dict[str, Any],
) -> Any:
    """As `BaseRLModel.load`."""
    runs_code = bool(changes.pop("cloudpickle", False))
    spaces, objects = spaces_apart(custom_objects)
    with file_at(place, (".pkl", ".zip") if runs_code else (".zip", ".pkl")) as path:
        if cls.foreign_files.is_from_there(path):
            objects = with_use(cls.__name__, objects, ("policy", *cls.arguments))
            return cls.foreign_files.load(cls, path, env, {**spaces, **objects, **changes})
        state = read(path, runs_code=runs_code)
        about = _about(state, cls, path)
    model = cls.of_file(about)
    objects = with_use(cls.__name__, objects, ("policy", *model.defaults()))
    given = by_current_names({**objects, **changes}, model._arguments().values())
    refuse_other_sizes(cls.__name__, spaces, about)
    state[KEY] = about = {**about, **{name: space_state(one) for name, one in spaces.items()}}
    env_of_plan = part_of(state, "manifest")["plan"]["env"]
    env_of_plan["spaces"] |= dict.fromkeys(spaces)
    own = {**model.defaults(), **model.arguments_of(_plan_settings(state))}
    own |= {name: about[name] for name in ("policy", "policy_kwargs", "seed")}
    own |= _held(about, model)
    _check(model, given, own)
    model._is_joined = False
    model.load_from(Saved(path, state, {**own, **given}, given), env)
    added_attributes.restore(model, about["attributes"])
    return model


def _about(state: State, cls: type[BaseRLModel], path: Path) -> dict[str, Any]:
    """What a file says of its model; refused if that is nothing, not all, or another class."""
    about = state.get(KEY)
    if not isinstance(about, dict):
        raise Refused(
            f"{path} is not a model that {cls.__name__}.save has written. rlk.load loads what rlk "
            "itself has saved."
        )
    lost = [key for key in _ABOUT if key not in about]
    if lost:
        raise BadFile(f"{path} is damaged: it does not hold the model's {', '.join(lost)}.")
    saved_class.refuse_other_class(cls, about, path)
    return about


def _held_names(model: Constructed) -> list[str]:
    """The constructor arguments that a file holds beside the plan."""
    return [name for name, one in model._arguments().items() if one.is_held]


def _held(about: Mapping[str, Any], model: BaseRLModel) -> dict[str, Any]:
    """The constructor arguments that a file holds beside the plan."""
    held = about["arguments"]
    found = {name: held[name] for name in _held_names(model) if name in held}
    for name, value in found.items():
        if not isinstance(value, int | None):
            raise BadFile(f"the saved model is damaged: its {name} is {value!r}.")
    return found


def _check(model: BaseRLModel, given: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raise Refused for arguments of `load` that do not exist, or that fit other networks."""
    unknown = sorted(given.keys() - own.keys())
    if unknown:
        raise Refused(
            f"{type(model).__name__} has no {', '.join(unknown)} to replace. custom_objects and "
            f"keywords of load are arguments of its constructor: {', '.join(own)}."
        )
    for name, one in model._arguments().items():
        is_other = name in given and given[name] != own[name]
        if one.change == "refuse" and name != "policy_kwargs" and is_other:
            raise Refused(
                f"{type(model).__name__}.load: {name} cannot change, because the saved networks "
                f"were made with {name}={own[name]!r}. Leave it out, or make a new model."
            )
    if "policy_kwargs" not in given:
        return
    kwargs, saved = dict(given["policy_kwargs"] or {}), own["policy_kwargs"]
    passed_again = {
        key for key, value in saved.items() if was_callable(value) and callable(kwargs.get(key))
    }
    now = {**model.held_policy_kwargs(kwargs), **{key: saved[key] for key in passed_again}}
    if now != saved:
        raise Refused(
            f"policy_kwargs={kwargs!r} are not those of the saved model, {saved!r}: its networks "
            "are others."
        )


def refuse_other_spaces(model: str, saved: Saved, vector: VecEnv) -> None:
    """Raise Refused if the environments that `load` was given have other spaces than the model.

    Args:
        model: the name of the model class.
        saved: the saved model.
        vector: the environments.
    """
    own = saved.awaited()
    for key, here in zip(SPACES, planned_spaces(vector), strict=True):
        there = getattr(own, key)
        if there != here:
            hint = ""
            if isinstance(there, Box) and isinstance(here, Box) and there.shape == here.shape:
                hint = (
                    " If its numbers mean the same, replace the model's space: "
                    f"custom_objects={{'{key}': env.{key}}}."
                )
            raise Refused(
                f"{model}.load: the {key} of the model in {saved.path} is {there}, and that of the "
                f"environment is {here}. Pass an environment that has the same spaces.{hint}"
            )


def leave_out_old_memory(plan: dict[str, Any], changed: Iterable[str]) -> None:
    """Leave out of a saved plan what DDPG's `memory_policy` put in, if it is changed."""
    settings = next(one["settings"] for one in plan["components"] if one["role"] == "algorithm")
    memory = settings.get("memory_policy")
    if "memory_policy" in changed and isinstance(memory, str):
        old, _ = parse_plugin(memory)
        _leave_out(plan, old)


def _leave_out(plan: dict[str, Any], name: str) -> None:
    """Leave a component out of a saved plan."""
    plan["components"] = [one for one in plan["components"] if one["name"] != name]


def _plan_settings(state: State) -> dict[str, Any]:
    """The settings in a file by rlk's keys, without functions, which a file cannot hold."""
    return {
        key if one["role"] == "algorithm" else f"{one['name']}.{key}": value
        for one in part_of(state, "manifest")["plan"]["components"]
        for key, value in one["settings"].items()
        if not was_callable(value)
    }
