"""The run that a file of rl-baselines3-zoo (`ppo.yml`: environment id -> keys) describes.

Arguments of a model mean what they mean in Stable-Baselines3, also those that are left out: its
class in `rlk_sb3` or `rlk_sb3_contrib` translates them. Words of the zoo itself (`frame_stack`) are
looked up in the records of components.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import torch
import yaml

import rlk_sb3
import rlk_sb3_contrib
from rlk import settings
from rlk.errors import BadFile, PlanError, UnknownName, either
from rlk.files import looking_at
from rlk.planning.environment import choose_environment
from rlk.planning.instead import Instead, from_record
from rlk.planning.python_values import parse_python
from rlk.planning.resolve import resolve
from rlk.planning.spec import ENV_PREFIX, make_spec
from rlk.planning.words_of_others import WordsOfOthers
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json
from rlk_baselines.environments.as_vec_env import AwaitedVecEnv
from rlk_cli.folder import spec_toml
from rlk_sb3.common.sb2_compat import rmsprop_tf_like

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

#: The component whose environments have the entry `atari`.
_ATARI = "ale"
#: Keys of a run.
_OF_RUN = ("n_timesteps", "n_envs", "policy")
#: Arguments of a model that the records of components know, because they are objects there.
_OBJECTS = ("replay_buffer_class", "replay_buffer_kwargs")
#: What an environment is put in, the innermost first. The zoo normalises before it stacks.
_WRAPPERS = ("env_wrapper", "vec_env_wrapper", "frame_stack", "normalize")
_STACKS = "normalize: stacks of frames are normalised, not each frame before it is stacked."
#: Keys whose values are classes, each alone or with its keywords.
_CLASSES = ("env_wrapper", "vec_env_wrapper", "callback")
#: Where the names in the texts of `policy_kwargs` are from.
_NAMED = (torch.nn, torch.optim, rmsprop_tf_like)


@attrs.frozen
class Described:
    """A run that a file describes.

    Attributes:
        entry: the key of the file that it is from: the environment's id, `atari` or `default`.
        lost: what the plan does not have of the entry, as sentences.
    """

    plan: Plan
    entry: str
    lost: tuple[str, ...]

    def spec_toml(self) -> str:
        """The plan as SPEC.toml; comments above it say what it does not have of the entry.

        The seed is left out: every run of the file draws one, as the zoo does.
        """
        plan = as_json(self.plan)
        plan["run"]["seed"] = None
        said = [f"The entry {self.entry} of a file of rl-baselines3-zoo.", *self.lost]
        return "".join(f"# {' '.join(one.split())}\n" for one in said) + spec_toml(plan)


def described(
    path: Path,
    algo: str | None,
    env: str,
    *,
    plugins: Iterable[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> Described:
    """Plan the run of an environment.

    Args:
        path: the file.
        algo: the zoo's name of the algorithm; None means the name of the file.
        env: the environment, as for `--env`.
        plugins: further plugins; wrappers of them are innermost.
        changes: settings to change, by rlk's keys.

    Raises:
        BadFile: if it is not such a file.
        PlanError: if it has no entry for the environment, or the run cannot be planned.
    """
    name, keys = _entry(path, env)
    kind, kernel, changes = _model(algo or path.stem), default_kernel(), dict(changes or {})
    base = {"env": env, "policy": keys["policy"], "preset": "none", "n_envs": keys["n_envs"]}
    words = WordsOfOthers.of(kernel, make_spec(kind.algo, base))
    arguments = {
        key: one for key, one in keys.items() if key in kind.arguments and key not in _OBJECTS
    }
    others = {key: one for key, one in keys.items() if key not in {*arguments, *_OF_RUN}}
    found = Instead.joined(_translated(words, others, keys))
    own = {k: v for k, v in changes.items() if k == "n_envs" or k.startswith(ENV_PREFIX)}
    base |= {**found.settings, **own, "plugins": [*plugins, *found.typed_plugins()]}
    wrapped = resolve(kernel, make_spec(kind.algo, base))
    asked, warned = _asked(kind, keys["policy"], arguments, wrapped)
    if "noise_type" in keys:
        asked.pop("action_noise", None)  # a plugin is the noise, not the model's None
    base["plugins"] += asked.pop("plugins")
    given = {**base, **asked, "total_timesteps": keys["n_timesteps"], **changes}
    plan = resolve(kernel, make_spec(kind.algo, given))
    return Described(plan, name, (*found.sentences, *warned))


def _model(algo: str) -> Any:
    """The class with the interface of Stable-Baselines3; PlanError for an algorithm without one."""
    kinds = {"ppo_lstm": rlk_sb3_contrib.RecurrentPPO}
    for package in (rlk_sb3, rlk_sb3_contrib):
        named = {name: getattr(package, name) for name in package.__all__}
        kinds |= {name.lower(): one for name, one in named.items() if hasattr(one, "algo")}
    if algo not in kinds:
        raise PlanError(
            f"{algo!r} is no algorithm of the zoo that rlk has. Type --algo NAME with the one that "
            f"the file is for: {either(sorted(kinds))}."
        )
    return kinds[algo]


def _entry(path: Path, env: str) -> tuple[str, dict[str, Any]]:
    """The entry for an environment and its key, which the zoo chooses in this order."""
    file = _read(path)
    source = choose_environment(env, default_kernel().registries, {}).source
    names = [env, env.rpartition(":")[2], *(["atari"] if source == _ATARI else []), "default"]
    name = next((one for one in names if one in file), None)
    if name is None:
        raise UnknownName("environment", env, [str(one) for one in file], where=str(path))
    keys = file[name]
    is_table = isinstance(keys, Mapping) and all(isinstance(key, str) for key in keys)
    if not is_table or not {"n_timesteps", "policy"} <= keys.keys():
        raise BadFile(f"{path}: {name} must be a table with names, n_timesteps and policy too.")
    return name, {"n_envs": 1, **keys}


def _read(path: Path) -> Mapping[Any, Any]:
    with looking_at(path, f"cannot read {path}"):
        try:
            file = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise BadFile(f"{path} is not a YAML file: {' '.join(str(error).split())}") from None
    if not isinstance(file, Mapping):
        raise BadFile(f"{path} is not a file of rl-baselines3-zoo: environment id -> keys.")
    return file


# ---- words of the zoo ----------------------------------------------------------------------------


def _translated(
    words: WordsOfOthers, others: Mapping[str, Any], keys: Mapping[str, Any]
) -> Iterator[Instead]:
    """What to use instead of the keys that are no arguments of the model."""
    inside_first = {word: position for position, word in enumerate(_WRAPPERS)}
    for word in sorted(others, key=lambda one: inside_first.get(one, len(_WRAPPERS))):
        value = _normalized(others[word], keys) if word == "normalize" else others[word]
        if word in _CLASSES:
            yield from (_of_class(words, word, *pair) for pair in _with_keywords(value))
        elif value not in (None, False) and not (word == "noise_std" and keys.get("noise_type")):
            yield _named(word, words.instead(word, value, keys))
    stacked = keys.get("frame_stack") and _python(keys.get("normalize"))
    if stacked and not (isinstance(stacked, Mapping) and stacked.get("norm_obs") is False):
        yield Instead.said(_STACKS)


def _named(word: str, found: Instead | None) -> Instead:
    """What was found for a word, whose sentences begin with the word."""
    if found is None:
        return Instead.said(f"{word}: rlk has no counterpart.")
    return attrs.evolve(found, sentences=tuple(f"{word}: {one}" for one in found.sentences))


def _normalized(value: Any, keys: Mapping[str, Any]) -> Any:
    """The value of `normalize` with the algorithm's gamma, which the zoo gives to VecNormalize."""
    table = _python(value)
    if not table or "gamma" not in keys:
        return table
    return {**(table if isinstance(table, Mapping) else {}), "gamma": keys["gamma"]}


def _with_keywords(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The names of classes, each with its keywords: the zoo takes one, and a list."""
    for one in value if isinstance(value, list) else [value] if value else []:
        pairs = one.items() if isinstance(one, Mapping) else [(one, {})]
        for name, keywords in pairs:
            if not isinstance(keywords or {}, Mapping):
                raise BadFile(f"{name}: its keywords must be a table, not {keywords!r:.80}.")
            yield str(name), keywords or {}


def _of_class(words: WordsOfOthers, word: str, name: str, keywords: Mapping[str, Any]) -> Instead:
    """The plugin instead of a class, with its keywords by the plugin's names."""
    found = _named(f"{word} {name}", words.instead(word, name, {}))
    for plugin in found.plugins:
        if plugin not in words.registries:  # the class itself, by its place
            return attrs.evolve(found, plugins={plugin: dict(keywords)})
        component = words.registries.find(plugin).component()
        known, lost = {}, []
        for key, value in keywords.items():
            new = from_record(component, key, value, {})
            if key in settings.names(component.config):
                known[key] = value
            elif isinstance(new, dict):
                known |= new
            else:
                lost.append(f"{word} {name}: {plugin} has no counterpart of its {key}.")
        return Instead({}, {plugin: known}, tuple(lost))
    return found


# ---- arguments of the model ----------------------------------------------------------------------


def _asked(
    kind: Any, policy: Any, arguments: Mapping[str, Any], wrapped: Plan
) -> tuple[dict[str, Any], list[str]]:
    """The keywords of `rlk.make` for a model's arguments, and what it warns of.

    Args:
        kind: the class of the model.
        policy: the name of its policy.
        arguments: those of the entry.
        wrapped: a plan with the environment in its wrappers.
    """
    given = {
        key: tuple(one) if key == "train_freq" and isinstance(one, list) else one
        for key, one in arguments.items()
    }
    given["policy_kwargs"] = _classes(_python(given.get("policy_kwargs")))
    spaces = wrapped.observation_space, wrapped.action_space
    env = AwaitedVecEnv(wrapped.n_envs, *spaces, None)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asked = kind(policy, env, _init_setup_model=False, **given).asked()
    return asked, [str(one.message) for one in said]


def _python(value: Any) -> Any:
    """The value of a text in Python's form; anything else is returned as it is."""
    try:
        return parse_python(value) if isinstance(value, str) else value
    except ValueError as error:
        raise BadFile(
            f"{error}. Write dict(name=value, …) with numbers, texts and names."
        ) from None


def _classes(value: Any) -> Any:
    """A value with the classes that its texts name: `nn.ReLU`, `RMSpropTFLike`."""
    if isinstance(value, Mapping):
        return {key: _classes(one) for key, one in value.items()}
    name = value.rpartition(".")[2] if isinstance(value, str) else ""
    found = next((getattr(one, name) for one in _NAMED if name and hasattr(one, name)), None)
    return found if isinstance(found, type) else value
