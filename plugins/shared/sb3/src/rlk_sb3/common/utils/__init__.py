"""Small functions that programs for Stable-Baselines3 use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlk.planning.other_environment import check_same_spaces
from rlk_baselines.common.math_util import explained_variance, safe_mean
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.misc_util import zipsame as zip_strict
from rlk_baselines.common.schedules import constfn as constant_fn
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_baselines.log_rows.tensorboard import folder_of_run, latest_run
from rlk_baselines.refusals import refused
from rlk_sb3.common.logger import Logger, configure
from rlk_sb3.common.utils.schedules import (
    ConstantSchedule,
    FloatSchedule,
    LinearSchedule,
    get_linear_fn,
)
from rlk_sb3.common.utils.system import get_system_info
from rlk_sb3.common.utils.tensors import (
    get_device,
    get_parameters_by_name,
    is_vectorized_observation,
    obs_as_tensor,
    polyak_update,
    update_learning_rate,
)
from rlk_sb3.elsewhere import refusing

__all__ = [
    "ConstantSchedule",
    "FloatSchedule",
    "LinearSchedule",
    "check_for_correct_spaces",
    "configure_logger",
    "constant_fn",
    "explained_variance",
    "get_device",
    "get_latest_run_id",
    "get_linear_fn",
    "get_parameters_by_name",
    "get_schedule_fn",
    "get_system_info",
    "is_vectorized_observation",
    "obs_as_tensor",
    "polyak_update",
    "safe_mean",
    "set_random_seed",
    "update_learning_rate",
    "zip_strict",
]

__getattr__ = refusing(__name__)


_seeded = False


def set_random_seed(seed: int, using_cuda: bool = False) -> None:
    """Seed the global generators, including those of GPUs, as `set_global_seeds`.

    From now on, a model without a seed draws one from numpy's global generator, so that the program
    can be reproduced.

    Args:
        seed: the seed.
        using_cuda: ignored.
    """
    global _seeded
    _seeded = True
    set_global_seeds(seed)


def is_seeded() -> bool:
    """Whether `set_random_seed` was called."""
    return _seeded


def check_for_correct_spaces(env: Any, observation_space: Any, action_space: Any) -> None:
    """Check that an environment, or a vector, has these spaces.

    Raises:
        ValueError: if it has others.
    """
    with refused():
        found = env.observation_space, env.action_space
        check_same_spaces(type(env).__name__, found, (observation_space, action_space))


def get_latest_run_id(log_path: str = "", log_name: str = "") -> int:
    """The number of the latest run with a name in a folder (3 for `NAME_3`), or 0."""
    return latest_run(log_path or ".", log_name)


def configure_logger(
    verbose: int = 0,
    tensorboard_log: str | None = None,
    tb_log_name: str = "",
    reset_num_timesteps: bool = True,
) -> Logger:
    """Make a logger as a model does by default.

    Args:
        verbose: 0 prints nothing.
        tensorboard_log: the folder for TensorBoard's events, in which each run has a folder; None
            writes none.
        tb_log_name: the prefix of the run's folder.
        reset_num_timesteps: whether to start a new run, or continue the latest one of this name.
    """
    formats = ["stdout"] if verbose > 0 else []
    if tensorboard_log is None:
        return configure(None, formats) if formats else Logger(None, [])
    folder: Path = folder_of_run(tensorboard_log, tb_log_name, is_new=reset_num_timesteps)
    return configure(str(folder), [*formats, "tensorboard"])
