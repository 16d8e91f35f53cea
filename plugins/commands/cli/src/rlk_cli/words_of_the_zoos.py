"""Options and scripts of Stable Baselines' zoos (`train.py`) and others, and rlk's for them.

What components say of such words is in their records (`Component.instead_of`).
"""

from __future__ import annotations

from collections.abc import Mapping

import click

_PLAYED = "rlk {command} RUN, where RUN is a run's folder (runs/…)"
_FILM = "rlk enjoy RUN --record FILE.mp4"
_SEARCH = "rlk tune --algo NAME --env ENV"
#: What a file is that `rlk run` takes.
SPEC = (
    'A SPEC.toml describes one run: algo = "ppo", env = "CartPole-v1", and hyperparameters in a '
    "table [settings]. The README of rlk-cli shows one"
)
#: What makes a SPEC.toml of a file of hyperparameters.
IMPORT = "rlk import {value} --algo {algo} --env {env} --out run.toml"
_TRACKED = "what to type for Weights & Biases is in the README of rlk-loggers"
#: Short options, as the zoo of Stable-Baselines3 types them, with one dash.
SHORT = {
    "f": "log_folder",
    "n": "n_timesteps",
    "i": "trained_agent",
    "P": "progress",
    "tb": "tensorboard_log",
    "o": "optimize",
    "optimize": "optimize",
    "params": "hyperparams",
    "conf": "conf_file",
    "tags": "wandb_tags",
}
#: Options whose values are `KEY:VALUE` words, and the prefix of such a key behind `--set`.
PAIRS = {
    **dict.fromkeys(("params", "hyperparams", "hyperparameters"), ""),
    "env_kwargs": "env.",
}
#: Options that are no component's, with what to type, or with a sentence.
OPTIONS = {
    "log_folder": "--out {value}/NAME",
    **dict.fromkeys(("n_timesteps", "steps"), "--timesteps {value}"),
    **dict.fromkeys(("num_env", "num_envs"), "--n-envs {value}"),
    "num_threads": "--set n_threads={value}",
    "gym_packages": "--env {value}:{env}",
    **dict.fromkeys(("wrapper", "env_wrapper"), "--plugin {value}"),
    "video": _FILM,
    "save_path": "--out {value}",
    "verbose": "-v",
    "verbose 0": "--quiet",  # a value of an option may mean another one
    **dict.fromkeys(("optimize", "optimize_hyperparameters", "n_startup_trials"), _SEARCH),
    **dict.fromkeys(("n_trials", "max_total_trials"), f"{_SEARCH} --trials {{value}}"),
    "n_jobs": f"{_SEARCH} --jobs {{value}}",
    "n_evaluations": f"{_SEARCH} --evaluations {{value}}",
    **dict.fromkeys(("study_name", "optimization_log_path"), f"{_SEARCH} --out {{value}}"),
    "sampler": f"{_SEARCH} --sampler {{value}}",
    "pruner": f"{_SEARCH} --pruner {{value}}",
    **dict.fromkeys(("conf_file", "yaml_file"), IMPORT),
    **dict.fromkeys(("track", "wandb_project_name", "wandb_entity", "wandb_tags"), _TRACKED),
    "uuid": "every run without --out has a folder of its own. Leave it out",
}
#: The same, for commands that take a RUN.
OPTIONS_OF_A_RUN = {
    **dict.fromkeys(("algo", "exp_id", "folder", "log_folder"), _PLAYED),
    **dict.fromkeys(("trained_agent", "load"), _PLAYED),
    **dict.fromkeys(("timesteps", "n_timesteps"), "--episodes N"),
    # What a checkpoint says of its environments is of as many; a new run may have another number.
    "n_envs": "rlk run --algo NAME --plugin model-start:path=RUN --n-envs {value}",
    "load_best": "--best",
    "load_last_checkpoint": "--last",
    "load_checkpoint": "rlk {command} RUN/checkpoints/{value}.zip",
}
COMMANDS = {
    "train": "rlk run --algo NAME --env ENV",
    "enjoy": "rlk enjoy RUN",
    "benchmark": "rlk evaluate RUN",
    "list": "rlk plugins list",
    **dict.fromkeys(("record", "record_video", "record_training"), _FILM),
    **dict.fromkeys(("plot_train", "plot_from_file", "all_plots"), "rlk plot RUN…"),
    **dict.fromkeys(
        ("push_to_hub", "load_from_hub"),
        "no model is uploaded or downloaded here: it is one file, model.zip in a run's folder",
    ),
}


def option_instead(
    key: str, value: str, context: click.Context, others: Mapping[str, str]
) -> str | None:
    """What to use in a command for an option of the zoos; None for other options.

    Args:
        key: the option without dashes at its start, with underscores.
        value: the text typed after it.
        context: of the command.
        others: the texts of the other options that were typed, by key.

    Returns:
        What to type, which begins with a dash or `rlk `, or a sentence without a full stop.
    """
    params = context.command.params
    options = {option for param in params for option in (*param.opts, *param.secondary_opts)}
    arguments = [str(one.metavar) for one in params if isinstance(one, click.Argument)]
    is_of_run = any(name in ("RUN", "RUN…") for name in arguments)
    typed = {"env": others.get("env") or "ID", "algo": others.get("algo") or "NAME"}
    for table in [OPTIONS_OF_A_RUN, OPTIONS] if is_of_run else [OPTIONS]:
        text = table.get(f"{key} {value}") or table.get(key, "")
        text = text.format(value=value, command=context.info_name, **typed)
        if text and (text.split()[0] in options or not text.startswith("-")):
            return text
    return None


def command_instead(name: str) -> str | None:
    """What to use instead of a script of the zoos, as `option_instead` says it; None for others."""
    return COMMANDS.get(name.removesuffix(".py").replace("-", "_"))
