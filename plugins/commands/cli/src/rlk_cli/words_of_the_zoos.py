"""Options and scripts of Stable Baselines' zoos (`train.py`) and others, and rlk's for them."""

from __future__ import annotations

import click

_PLAYED = "rlk {command} RUN, where RUN is a run's folder (runs/…)"
_FILM = "rlk enjoy RUN --record FILE.mp4"
_SEARCH = "rlk tune --algo NAME --env ENV"
#: Settings elsewhere, with their names in one algorithm or another.
SETTINGS = {"lr": ("learning_rate", "actor_lr", "critic_lr")}
#: Options that are not settings here, with what to type.
OPTIONS = {
    "tensorboard_log": "--plugin tensorboard",
    "tensorboard": "--plugin tensorboard",
    "eval_freq": "--plugin evaluation:every={value}",
    "eval_episodes": "--plugin evaluation:episodes={value}",
    "save_freq": "--plugin checkpoint:every={value}",
    "log_folder": "--out {value}",
    "f": "--out {value}",
    "n_timesteps": "--timesteps {value}",
    "n": "--timesteps {value}",
    "steps": "--timesteps {value}",
    **dict.fromkeys(("num_env", "num_envs"), "--n-envs {value}"),
    "num_threads": "--set n_threads={value}",
    "hyperparams": "--set NAME=VALUE",
    "hyperparameters": "--set NAME=VALUE",
    "env_kwargs": "--set env.NAME=VALUE",
    "progress": "--plugin progress-bar",
    "render": "--plugin render",
    "wrapper": "--plugin {value}",
    "env_wrapper": "--plugin {value}",
    "video": _FILM,
    **dict.fromkeys(("trained_agent", "i", "load"), "--plugin model-start:path={value}"),
    "save_path": "--out {value}",
    "verbose": "-v",
    "verbose 0": "--quiet",  # a value of an option may mean another one
    **dict.fromkeys(("optimize", "optimize_hyperparameters", "n_startup_trials"), _SEARCH),
    "o": _SEARCH,  # what click reads of -optimize, as Stable Baselines' documentation types it
    "n_trials": f"{_SEARCH} --trials {{value}}",
    "n_jobs": f"{_SEARCH} --jobs {{value}}",
    "n_evaluations": f"{_SEARCH} --evaluations {{value}}",
    "study_name": f"{_SEARCH} --out {{value}}",
    "sampler": f"{_SEARCH} --sampler {{value}}",
    "pruner": f"{_SEARCH} --pruner {{value}}",
}
#: The same, for commands that take a RUN.
OPTIONS_OF_A_RUN = {
    **dict.fromkeys(("algo", "exp_id", "folder", "log_folder", "f"), _PLAYED),
    **dict.fromkeys(("trained_agent", "i", "load"), _PLAYED),
    **dict.fromkeys(("timesteps", "n_timesteps", "n"), "--episodes N"),
    # What a checkpoint says of its environments is of as many; a new run may have another number.
    "n_envs": "rlk run --algo NAME --plugin model-start:path=RUN --n-envs {value}",
    "load_best": "--best",
    "load_checkpoint": "rlk {command} RUN/checkpoints/{value}.zip",
}
COMMANDS = {
    **dict.fromkeys(("train", "train.py"), "rlk run --algo NAME --env ENV"),
    "enjoy.py": "rlk enjoy RUN",
    "list": "rlk plugins list",
    **dict.fromkeys(("record", "record_video"), _FILM),
}


def typed_instead(key: str, value: str, context: click.Context) -> list[str]:
    """What to type in a command for an option of the zoos, one or no text; none for other options.

    Args:
        key: the option without dashes at its start, with underscores.
        value: the text typed after it.
        context: of the command.
    """
    params = context.command.params
    options = {option for param in params for option in param.opts}
    is_of_run = any(isinstance(one, click.Argument) and one.metavar == "RUN" for one in params)
    for table in [OPTIONS_OF_A_RUN, OPTIONS] if is_of_run else [OPTIONS]:
        text = table.get(f"{key} {value}") or table.get(key, "")
        text = text.format(value=value, command=context.info_name)
        if text and (text.split()[0] in options or not text.startswith("-")):
            return [text]
    return []
