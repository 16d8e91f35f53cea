"""Settings in the form of Stable Baselines and its zoos: refused, with what to type instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk import settings
from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.layers import SettingLayers
from rlk.registry.registries import Registries

POLICY = "policy_kwargs"
_NOTHING = "rlk has no such setting and needs none. Leave it out."
#: The message for all others.
INSTEAD: Mapping[str, str] = {
    "tensorboard_log": "loggers write into the run's folder. Use out='FOLDER', and put one in: "
    "plugins=[…] with one of: rlk plugins list --kind loggers",
    "full_tensorboard_log": _NOTHING,
    "_init_setup_model": _NOTHING,
    **dict.fromkeys(("n_cpu_tf_sess", "num_procs", "nprocs"), "torch's threads are n_threads=…"),
    **dict.fromkeys(("num_env", "num_envs"), "the number of environments is n_envs=… (--n-envs …)"),
    "n_timesteps": "the length of a run is total_timesteps=… (--timesteps …)",
    **dict.fromkeys(
        ("callback", "eval_freq", "eval_env", "n_eval_episodes", "save_freq"),
        "what is called during training is a plugin: plugins=[…] with an object whose "
        "methods are hooks (@rlk.hookimpl), or one of: rlk plugins list --kind callbacks",
    ),
    **dict.fromkeys(
        ("env_wrapper", "wrapper_class"),
        "wrappers are plugins: plugins=[…] with the class, or a name (--plugin NAME) of: "
        "rlk plugins list --kind wrappers",
    ),
    "env_kwargs": "keywords of the environment have dotted keys: settings={'env.NAME': VALUE}, and "
    "on the command line --set env.NAME=VALUE",
    **dict.fromkeys(
        ("vec_env_cls", "vec_env_class"),
        "vector environments have names: vec_env='NAME' (--vec-env NAME) with one of: "
        "rlk plugins list --kind vec_envs",
    ),
    "monitor_dir": "every run is monitored: out='FOLDER' has its monitor.csv",
    **dict.fromkeys(
        ("noise_type", "noise_std"),
        "noises are plugins: noise='NAME' (--noise NAME) with one of: "
        "rlk plugins list --kind noises",
    ),
}


def refuse_stable_baselines_words(
    layers: SettingLayers, algorithm: Choice, registries: Registries
) -> None:
    """PlanError for the first such setting that the algorithm does not have.

    The zoos switch wrappers on by a setting of that name (`frame_stack: 4`).
    """
    own = settings.names(algorithm.component.config)
    given = {
        key.removeprefix(f"{algorithm.name}."): setting.value
        for key, setting in layers
        if setting.is_demand
    }
    for key in given:
        word = key.partition(".")[0]
        if word in own:
            continue
        if word == POLICY:
            policy = layers.find("policy").value
            raise PlanError(f"{POLICY}: {_of_policy(given, own)} See: rlk plugins show {policy}")
        if word in INSTEAD:
            raise PlanError(f"{word}: {INSTEAD[word]}")
        if (plugin := key.replace("_", "-")) in registries.wrappers:
            raise PlanError(
                f"{key}: {plugin!r} is a wrapper. Use plugins=[{plugin!r}] (--plugin {plugin}); "
                f"its settings: rlk plugins show {plugin}"
            )


def _of_policy(given: Mapping[str, Any], own: list[str]) -> str:
    """The keywords that replace `policy_kwargs` here."""
    start = f"{POLICY}."
    inner = {key.removeprefix(start): v for key, v in given.items() if key.startswith(start)}
    words = [f"{key}={value!r}" for key, value in inner.items() if key in own]
    rest = {key: value for key, value in inner.items() if key not in own}
    if not inner:
        return "it has no settings of the policy. Leave it out, or use policy={…}."
    if rest:
        dotted = {f"policy.{key}": value for key, value in rest.items()}
        words.append(f"settings={dotted!r}" if "policy" in given else f"policy={rest!r}")
    typed = [f"policy.{key}" if key in rest else key for key in inner]
    return (
        f"settings of the policy are written {', '.join(words)}, and on the command line "
        f"{' '.join(f'--set {key}=…' for key in typed)}."
    )
