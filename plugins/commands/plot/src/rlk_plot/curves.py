"""The data of a run: episodes of monitor files (else `rows`), and evaluations.

The monitor files of Stable Baselines (`0.monitor.csv`, …) are read like those of rlk.

Dimensions: E episodes (or rows), K evaluations.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from rlk.command_line import command_line, path_word
from rlk.documents import read_json, read_npz
from rlk.errors import BadFile, RlkError
from rlk.files import looking_at, users_path
from rlk.records import Array
from rlk.structure import structured
from rlk_plot.rows import MEAN_RETURN, columns_of, from_progress, one_count
from rlk_wrappers.results import get_monitor_files, load_results, read_monitor_header

#: A folder with any of these files is a run folder.
SIGNS = ("plan.json", "progress.csv", "*monitor.csv", "model.zip")
#: Slots that do not change what is learnt.
WATCHERS = ("callback", "logger", "serializer")
#: A row of metrics averages over so many episodes, where no `stats_window_size` is set.
_OF_A_ROW = 100


@attrs.frozen(eq=False)
class Curve:
    """One run.

    Attributes:
        folder: of the run. algo, env: their names, without a plan the folder's and that in the
            monitor files, or empty. seed: None if it is not known.
        components: the components that affect learning, by their roles, except the algorithm.
        settings: of all components that affect learning, by dotted key, the algorithm's without its
            name; of the environment; and the number of environments and the timesteps of the plan.
        returns: float64 [E]. timesteps, episodes, seconds: float64 [E], at the end of each;
            episodes are None if rows of Stable-Baselines3 do not count them.
        smoothed: whether a return is already a mean over many episodes, as in a row of metrics.
        evaluated_at: float64 [K], timesteps of evaluations, of all calls of `learn` as one count.
        evaluations: float64 [K], their mean returns.
    """

    folder: Path
    algo: str
    env: str
    seed: int | None
    components: Mapping[str, str] = attrs.field(repr=False)
    settings: Mapping[str, Any] = attrs.field(repr=False)
    returns: Array = attrs.field(repr=False)
    timesteps: Array = attrs.field(repr=False)
    episodes: Array | None = attrs.field(repr=False)
    seconds: Array = attrs.field(repr=False)
    smoothed: bool
    evaluated_at: Array = attrs.field(repr=False)
    evaluations: Array = attrs.field(repr=False)

    @property
    def averaged(self) -> int:
        """How many episodes each of the returns is the mean of."""
        if not self.smoothed:
            return 1
        asked = self.settings.get("stats_window_size")
        return asked if isinstance(asked, int) else _OF_A_ROW

    def x(self, name: str) -> Array:
        """float64 [E]: `timesteps`, `episodes` or `time` (seconds).

        Raises:
            RlkError: if the run does not have them.
        """
        values = {"timesteps": self.timesteps, "episodes": self.episodes, "time": self.seconds}[
            name
        ]
        if values is None:
            raise RlkError(
                f"{self.folder} does not count its {name}: it has no monitor.csv, and its "
                f"progress.csv has no column time/{name}, which on-policy algorithms of "
                "Stable-Baselines3 do not write. Use --x timesteps or --x time."
            )
        return values

    def evaluated(self, name: str) -> Array:
        """float64 [K]: the positions of evaluations on that axis, from the episodes around them."""
        if name == "timesteps":
            return self.evaluated_at
        return np.interp(self.evaluated_at, self.timesteps, self.x(name))


def folder_of(run: str | os.PathLike[str]) -> Path:
    """The run folder of RUN: the folder itself, or that of a model or checkpoint in it.

    Raises:
        BadFile: if it is not a run folder.
    """
    path = users_path(run)
    with looking_at(path, f"cannot read {run}"):
        return _folder_of(path)


def check_exists(run: str | os.PathLike[str]) -> None:
    """Raise BadFile if there is nothing by this name."""
    path = users_path(run)
    with looking_at(path, f"cannot read {run}"):
        if not path.exists():
            raise BadFile(
                f"{run} does not exist. RUN is a run folder, as rlk run makes one in runs/."
            )


def _folder_of(run: Path) -> Path:
    check_exists(run)
    path = run
    if run.is_file():
        path = run.parent.parent if run.parent.name == "checkpoints" else run.parent
    if not path.is_dir():
        raise BadFile(f"{run} is neither a file nor a folder.")
    if not _is_run(path):
        inside = any(map(_is_run, path.glob("*/")))
        raise BadFile(
            f"{run} is not a run folder: it has none of {', '.join(SIGNS)}."
            + (f" It holds run folders. Type: rlk plot {path}/*" if inside else "")
        )
    return path


def _is_run(folder: Path) -> bool:
    return any(any(folder.glob(sign)) for sign in SIGNS)


def read_run(run: str | os.PathLike[str]) -> Curve:
    """The curve of a run; RUN is its folder, or a model or checkpoint in it.

    Raises:
        RlkError: if it is no run, no episode has ended yet, or a file is damaged.
    """
    folder = folder_of(run)
    heads = [read_monitor_header(file) for file in get_monitor_files(folder)]
    plan: dict[str, Any] = _plan(folder, heads)
    episodes = _from_monitor(folder, heads)
    columns: Mapping[str, Any] | None = episodes or from_progress(folder)
    if columns is None:
        raise RlkError(_nothing_to_draw(folder))
    evaluated_at, evaluations = _evaluations(folder)
    return Curve(
        folder=folder,
        smoothed=episodes is None,
        evaluated_at=evaluated_at,
        evaluations=evaluations,
        **plan,
        **columns,
    )


def _nothing_to_draw(folder: Path) -> str:
    """Why a run has no curve, and what to do."""
    empty = {
        name: sorted(found.name for found in folder.glob(name))
        for name in ("*monitor.csv", "progress.csv")
    }
    missing = [name.removeprefix("*") for name, files in empty.items() if not files]
    empty_files = [file for files in empty.values() for file in files]
    absent = f"there is no {' and no '.join(missing)}"
    if not empty_files:
        return (
            f"{folder} has nothing to draw: {absent} in it. Runs write them unless they are told "
            "--plugin no:monitor or --plugin no:csv; train one with them."
        )
    found = f"{' and '.join(empty_files)} {'hold' if len(empty_files) > 1 else 'holds'} no episode"
    is_ours = any((folder / name).exists() for name in ("plan.json", "model.zip"))
    columns = columns_of(folder)
    if columns and MEAN_RETURN not in columns and not is_ours:
        return f"{folder} has nothing to draw: {_without_returns(columns)}"
    resume = command_line(["rlk", "resume", path_word(folder), "--timesteps", "N"])
    advice = f"; if it has ended, train it further: {resume}" if is_ours else "."
    return (
        f"{folder} has nothing to draw: no episode has ended since the run began "
        f"({found}{f'; {absent}' if missing else ''}). If it is training, try again in a while"
        f"{advice}"
    )


def _without_returns(columns: Sequence[str]) -> str:
    """What to do about a progress.csv of another library that has no mean returns."""
    return (
        f"its progress.csv has no column {MEAN_RETURN}, only {', '.join(columns)}. "
        "Stable-Baselines3 writes mean returns once an episode has ended in environments that have "
        "its Monitor. If it is training, try again in a while; otherwise train with "
        "make_vec_env(ENV, monitor_dir=FOLDER), whose monitor files are drawn, too."
    )


def rolling_mean(values: Array, window: int) -> Array:
    """float64 [E]: the mean of each value and those before it, `window` of them at most.

    Values that are NaN or infinite are left out, and a mean of none is NaN.
    """
    is_number = np.isfinite(values)
    numbers, ones = np.where(is_number, values, 0.0), is_number.astype(np.float64)
    with np.errstate(invalid="ignore"):
        means: Array = _rolling_sum(numbers, window) / _rolling_sum(ones, window)
    return means


def _rolling_sum(values: Array, window: int) -> Array:
    """float64 [E]: the sum of each value and those before it, `window` of them at most.

    The values are cut into blocks as long as the window. A window is the end of one block and the
    beginning of the next, and both sums are running ones, so the cost does not depend on its
    length. Differences of one cumulative sum would lose all digits after a single huge value.
    """
    count, window = len(values), min(window, len(values))
    n_blocks = -(-count // window)
    # A block of zeros before the first value, and zeros that fill the last block.
    blocks = np.pad(values, (window, n_blocks * window - count)).reshape(-1, window)
    beginnings = np.cumsum(blocks, axis=1).ravel()  # of each block, up to and with each value
    ends = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].ravel()  # from and with each value
    last = np.arange(window, window + count)
    is_whole_block = last % window == window - 1
    sums: Array = beginnings[last] + np.where(is_whole_block, 0.0, ends[last - window + 1])
    return sums


def spread(lines: Sequence[tuple[Array, Array]], points: int = 400) -> tuple[Array, Array, Array]:
    """Mean and standard deviation of several lines, as far as all of them extend.

    The standard deviation has the number of lines in its denominator.

    Args:
        lines: (x, y) of each, x ascending.

    Returns:
        (x, mean, std), float64 [points]; one point if they have only that in common, and empty if
        they have nothing in common.
    """
    start, end = max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines)
    grid = np.linspace(start, end, points if end > start else int(end == start))
    rows = np.stack([np.interp(grid, x, y) for x, y in lines])
    return grid, rows.mean(0), rows.std(0)


def repeated_seeds(curves: Sequence[Curve]) -> dict[int, list[Curve]]:
    """The runs of each known seed that several of them have: copies, or the same run again."""
    by_seed: dict[int, list[Curve]] = {}
    for curve in curves:
        if curve.seed is not None:
            by_seed.setdefault(curve.seed, []).append(curve)
    return {seed: same for seed, same in by_seed.items() if len(same) > 1}


def shared_evaluations(curves: Sequence[Curve], axis: str) -> tuple[Array, Array]:
    """Timesteps at which all runs were evaluated, and mean over the runs: float64 [K], or empty."""
    at = [dict(zip(c.evaluated_at.tolist(), c.evaluations.tolist(), strict=True)) for c in curves]
    where = [
        dict(zip(c.evaluated_at.tolist(), c.evaluated(axis).tolist(), strict=True)) for c in curves
    ]
    shared = sorted(set(at[0]).intersection(*at[1:]))
    x = np.array([np.mean([own[timestep] for own in where]) for timestep in shared])
    return x, np.array([np.mean([own[timestep] for own in at]) for timestep in shared])


@attrs.frozen
class _Environment:
    name: str
    kwargs: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class _Run:
    n_envs: int
    seed: int | None
    total_timesteps: int | None = None  #: schedules depend on it


@attrs.frozen
class _Component:
    role: str
    name: str
    settings: dict[str, Any]


@attrs.frozen
class _Plan:
    """The components and settings of a plan, of any version."""

    env: _Environment
    run: _Run
    components: list[_Component]


def _plan(folder: Path, heads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is known of a run; without a plan, the id in the first line of its monitor files."""
    path = folder / "plan.json"
    found = read_json(path) if path.exists() else _plan_of_model(folder)
    if found is None:
        name = folder.resolve().name
        # Stable-Baselines3 writes "None" for an environment without an id.
        env = next(
            (str(head["env_id"]) for head in heads if head["env_id"] not in (None, "None")), ""
        )
        return {"algo": name, "env": env, "seed": None, "components": {}, "settings": {}}
    plan = structured(_Plan, found, f"{path} is damaged: plan", only_known_keys=False)
    algo = next((one.name for one in plan.components if one.role == "algorithm"), "")
    settings: dict[str, Any] = {"n_envs": plan.run.n_envs}
    if plan.run.total_timesteps is not None:
        settings["total_timesteps"] = plan.run.total_timesteps
    settings |= {f"env.{key}": value for key, value in plan.env.kwargs.items()}
    names: dict[str, list[str]] = {}
    for component in plan.components:
        if component.role not in WATCHERS:
            settings |= {f"{component.name}.{k}": v for k, v in component.settings.items()}
            names.setdefault(component.role, []).append(component.name)
    names.pop("algorithm", None)
    return {
        "algo": algo,
        "env": plan.env.name,
        "seed": plan.run.seed,
        "components": {role: "+".join(sorted(found)) for role, found in names.items()},
        "settings": {key.removeprefix(f"{algo}."): value for key, value in settings.items()},
    }


def _plan_of_model(folder: Path) -> Any:
    """The plan in the model of a run whose folder has no plan.json; None without a model."""
    from rlk.registry.kernel import default_kernel
    from rlk.saving.saved_files import read_manifest

    try:
        return read_manifest(folder, default_kernel())["plan"]
    except BadFile:
        return None


def _from_monitor(folder: Path, heads: Sequence[Mapping[str, Any]]) -> dict[str, Array] | None:
    if not heads:
        return None
    found = load_results(folder)
    if not len(found["r"]):
        return None
    count = np.arange(1.0, len(found["r"]) + 1)
    begun, ranks = min(head["timesteps"] for head in heads), max(head["ranks"] for head in heads)
    # The file is of one rank, and timesteps are those of all.
    timesteps = ranks * (begun + np.cumsum(found["l"]).astype(np.float64))
    return {
        "returns": found["r"],
        "timesteps": timesteps,
        "episodes": count,
        "seconds": found["t"],
    }


def _evaluations(folder: Path) -> tuple[Array, Array]:
    path = folder / "evaluations.npz"
    if not path.exists():
        return np.zeros(0), np.zeros(0)
    found = read_npz(path)
    at, results = found.get("timesteps", np.zeros(0)), found.get("results", np.zeros(0))
    are_numbers = at.dtype.kind in "iuf" and results.dtype.kind in "iuf"
    if not are_numbers or at.ndim != 1 or results.ndim != 2 or len(at) != len(results):
        raise BadFile(f"{path} is damaged: it has no returns, float [K, episodes], of K timesteps.")
    return one_count(at.astype(np.float64), is_strict=True), np.nanmean(results, axis=1)
