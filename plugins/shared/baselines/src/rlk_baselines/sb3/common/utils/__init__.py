"""Small functions that programs of Stable-Baselines3 use."""

from __future__ import annotations

from pathlib import Path

from rlk_baselines.common.math_util import explained_variance, safe_mean
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.misc_util import zipsame as zip_strict
from rlk_baselines.common.schedules import constfn as constant_fn
from rlk_baselines.common.schedules import get_schedule_fn
from rlk_baselines.sb3.common.logger import Logger, configure
from rlk_baselines.sb3.common.utils.schedules import (
    ConstantSchedule,
    FloatSchedule,
    LinearSchedule,
    get_linear_fn,
)
from rlk_baselines.sb3.common.utils.system import get_system_info
from rlk_baselines.sb3.common.utils.tensors import (
    get_device,
    get_parameters_by_name,
    is_vectorized_observation,
    obs_as_tensor,
    polyak_update,
    update_learning_rate,
)
from rlk_baselines.tensorboard import folder_of_run, latest_run

__all__ = [
    "ConstantSchedule",
    "FloatSchedule",
    "LinearSchedule",
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


_seeded = False


def set_random_seed(seed: int, using_cuda: bool = False) -> None:
    """As `set_global_seeds`; a GPU's generator is seeded with the others.

    A model without a seed draws one from numpy's generator from now on, so that it is the same
    whenever the program is run.
    """
    global _seeded
    _seeded = True
    set_global_seeds(seed)


def is_seeded() -> bool:
    """Whether `set_random_seed` was called."""
    return _seeded


def get_latest_run_id(log_path: str = "", log_name: str = "") -> int:
    """The number of the latest run of a name in a folder (`NAME_3` is 3), or 0."""
    return latest_run(log_path or ".", log_name)


def configure_logger(
    verbose: int = 0,
    tensorboard_log: str | None = None,
    tb_log_name: str = "",
    reset_num_timesteps: bool = True,
) -> Logger:
    """The logger that a model makes for itself.

    Args:
        verbose: 0 prints nothing.
        tensorboard_log: the folder for tensorboard, in which the run gets one; or None.
        tb_log_name: what the folder of the run begins with.
        reset_num_timesteps: whether another run begins, or the latest of this name goes on.
    """
    formats = ["stdout"] if verbose > 0 else []
    if tensorboard_log is None:
        return configure(None, formats) if formats else Logger(None, [])
    folder: Path = folder_of_run(tensorboard_log, tb_log_name, is_new=reset_num_timesteps)
    return configure(str(folder), [*formats, "tensorboard"])
