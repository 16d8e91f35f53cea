"""Warns about constructor arguments that have no effect because of another argument.

Stable Baselines and Stable-Baselines3 ignore them silently, and rlk itself refuses them. A model
uses the defaults of such arguments, as long as they have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from rlk.program_warnings import warn_program
from rlk_baselines.arguments import is_other


@attrs.frozen
class Needed:
    """The condition for an argument to have an effect."""

    switch: str  #: the name of another argument
    says: str  #: the value that it needs, for the warning
    is_on: Callable[[Any], bool] = bool  #: whether a value of `switch` meets the condition


def _is_learnt(ent_coef: Any) -> bool:
    return isinstance(ent_coef, str) and ent_coef.startswith("auto")


def _is_given(value: Any) -> bool:
    return value is not None


def _is_adaptive(noise: Any) -> bool:
    text = noise.as_setting() if hasattr(noise, "as_setting") else noise
    return str(text).partition(":")[0] == "adaptive-parameter-noise"


_SDE = Needed("use_sde", "True")
_PRIORITIES = Needed("prioritized_replay", "True")
_EVALUATION = Needed("eval_env", "…", _is_given)
_REPLAY = Needed("replay_ratio", "… above 0")
_TRUST_REGION = Needed("trust_region", "True")

#: For all algorithms: argument -> its condition.
OF_ALL: Mapping[str, Needed] = {
    "full_tensorboard_log": Needed("tensorboard_log", "…"),
}
#: Algorithm of rlk -> argument -> its condition.
OF_ONE: Mapping[str, Mapping[str, Needed]] = {
    "a2c": {"sde_sample_freq": _SDE, "rms_prop_eps": Needed("use_rms_prop", "True")},
    "acer": {
        "alpha": _TRUST_REGION,
        "delta": _TRUST_REGION,
        "buffer_size": _REPLAY,
        "replay_start": _REPLAY,
    },
    "ddpg": {
        "enable_popart": Needed("normalize_returns", "True"),
        "nb_eval_steps": _EVALUATION,
        "render_eval": _EVALUATION,
        "param_noise_adaption_interval": Needed(
            "param_noise", "AdaptiveParamNoiseSpec(…)", _is_adaptive
        ),
    },
    "dqn": {
        "prioritized_replay_alpha": _PRIORITIES,
        "prioritized_replay_beta0": _PRIORITIES,
        "prioritized_replay_beta_iters": _PRIORITIES,
        "prioritized_replay_eps": _PRIORITIES,
    },
    "ppo": {"sde_sample_freq": _SDE},
    "sac": {
        "target_entropy": Needed("ent_coef", "'auto'", _is_learnt),
        "sde_sample_freq": _SDE,
        "use_sde_at_warmup": _SDE,
    },
    "td3": {"target_noise_clip": Needed("target_policy_noise", "… above 0")},
    "trpo": {"vf_stepsize": Needed("vf_iters", "… above 0")},
}


def needed_by(algo: str) -> dict[str, Needed]:
    """The conditions of a model's arguments, by their names.

    Args:
        algo: the name of the model's algorithm in rlk.
    """
    return {**OF_ALL, **OF_ONE.get(algo, {})}


def with_effect(algo: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A model's arguments, with the default for each one without effect, and a warning about it.

    Args:
        algo: the name of the model's algorithm in rlk.
        given: all arguments, by name.
        defaults: the defaults of the constructor.
    """
    found = dict(given)
    for name, needed in needed_by(algo).items():
        if name not in defaults or not is_other(given[name], defaults[name]):
            continue
        if not needed.is_on(given[needed.switch]):
            warn_without_effect(name, given[name], f"{needed.switch}={needed.says}")
            found[name] = defaults[name]
    return found


def switched_by(algo: str, names: Iterable[str]) -> set[str]:
    """The arguments that may gain or lose their effect when these arguments change."""
    return {name for name, needed in needed_by(algo).items() if needed.switch in {*names}}


def warn_without_effect(name: str, value: Any, needed: str) -> None:
    """Warn that an argument has no effect without another one."""
    warn_program(f"{name}={value!r} has no effect without {needed}")
