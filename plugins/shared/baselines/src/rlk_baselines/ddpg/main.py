"""Trains DDPG on a robot: `python -m rlk_baselines.ddpg.main --env-id HalfCheetah-v5`."""

from __future__ import annotations

import contextlib
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlk_baselines.bench import Monitor
from rlk_baselines.common.cmd_util import arg_parser, monitor_file
from rlk_baselines.common.misc_util import boolean_flag
from rlk_baselines.ddpg import (
    DDPG,
    AdaptiveParamNoiseSpec,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)
from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.refusals import Refused
from rlk_baselines.scripts import begin

#: Options that are settings of the model, with defaults: switches (`--render`, `--no-render`) and
#: numbers.
SWITCHES = {
    "render-eval": False,
    "render": False,
    "normalize-returns": False,
    "normalize-observations": True,
    "enable-popart": False,
}
NUMBERS = {
    "critic-l2-reg": 1e-2,
    "batch-size": 64,
    "actor-lr": 1e-4,
    "critic-lr": 1e-3,
    "gamma": 0.99,
    "reward-scale": 1.0,
    "clip-norm": None,
    "nb-train-steps": 50,
    "nb-eval-steps": 100,
    "nb-rollout-steps": 100,
}


def parser() -> ArgumentParser:
    """The parser of the command line."""
    made = arg_parser()
    made.add_argument("--env-id", default="HalfCheetah-v1", help="environment ID")
    made.add_argument("--seed", type=int, default=0, help="RNG seed")
    made.add_argument("--num-timesteps", type=int, default=1_000_000)
    made.add_argument(
        "--noise-type",
        default="adaptive-param_0.2",
        help="with commas: adaptive-param_STDDEV, normal_STDDEV, ou_STDDEV, none",
    )
    boolean_flag(made, "layer-norm", default=True)
    boolean_flag(made, "evaluation", default=False)
    for name, switch in SWITCHES.items():
        boolean_flag(made, name, default=switch)
    for name, number in NUMBERS.items():
        made.add_argument(f"--{name}", type=type(number or 0.0), default=number)
    return made


def noises(text: str, action_size: int) -> dict[str, Any]:
    """The model's arguments `param_noise` and `action_noise` for a value of `--noise-type`.

    Args:
        text: kinds of noise, separated by commas, such as `adaptive-param_0.2,normal_0.1`.
        action_size: the number of dimensions of an action.

    Raises:
        ValueError: for an unknown kind, or without a standard deviation.
    """
    found: dict[str, Any] = {}
    for one in (part.strip() for part in text.split(",")):
        kind, deviation = _kind_and_deviation(one)
        mean = np.zeros(action_size)
        if kind == "adaptive-param":
            spec = AdaptiveParamNoiseSpec(deviation, desired_action_stddev=deviation)
            found["param_noise"] = spec
        elif kind == "normal":
            found["action_noise"] = NormalActionNoise(mean, deviation + mean)
        elif kind == "ou":
            found["action_noise"] = OrnsteinUhlenbeckActionNoise(mean, deviation + mean)
    return found


def _kind_and_deviation(text: str) -> tuple[str, float]:
    """The kind and the standard deviation of a noise such as `ou_0.2`."""
    kind, _, number = text.partition("_")
    if text == "none":
        return kind, 0.0
    if kind in ("adaptive-param", "normal", "ou"):
        with contextlib.suppress(ValueError):
            return kind, float(number)
    raise Refused(
        f"--noise-type {text!r} is none of adaptive-param_0.2, normal_0.2, ou_0.2 and none."
    )


def main(argv: Sequence[str] | None = None) -> Any:
    """Train with the given arguments, or those of the command line, and return the model."""
    options = begin(parser(), argv)
    env = Monitor(make_by_id(options.env_id), monitor_file(0))
    settings = {name.replace("-", "_") for name in (*SWITCHES, *NUMBERS)}
    model = DDPG(
        "LnMlpPolicy" if options.layer_norm else "MlpPolicy",
        env,
        eval_env=make_by_id(options.env_id) if options.evaluation else None,
        buffer_size=1_000_000,
        verbose=2,
        seed=options.seed,
        **noises(options.noise_type, int(np.prod(env.action_space.shape or ()))),
        **{name: getattr(options, name) for name in settings},
    )
    return model.learn(options.num_timesteps)


if __name__ == "__main__":
    main()
