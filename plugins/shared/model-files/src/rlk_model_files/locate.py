"""Finds the file that RUN refers to and the checkpoints of a run folder, by their suffix."""

from __future__ import annotations

import os
from pathlib import Path


def find(path: Path, suffix: str, best: bool = False) -> Path | None:
    """The file that a path refers to, or None if it does not exist.

    A path is the file itself, its name without the suffix, or a run folder. In a run folder it is
    the best model (with `best`), else the last model, else the newest checkpoint; in its folder
    `checkpoints` the newest of these. A folder with none of these hides no file beside it that has
    its name and the suffix; a file of another suffix does.
    """
    if path.is_dir():
        models = [path / f"best_model{suffix}"] if best else []
        models += [path / f"model{suffix}", *reversed(checkpoints(path, suffix))]
        models += [Path(f"{path}{suffix}")]
    elif path.exists():
        models = [path] if path.name.endswith(suffix) else []
    else:
        models = [Path(f"{path}{suffix}")]
    return next((model for model in models if model.is_file()), None)


def checkpoints(folder: Path, *suffixes: str) -> list[Path]:
    """The checkpoints of a run folder with one of these suffixes, by their timesteps.

    Those that have the same are in the order of the suffixes.

    Args:
        folder: the run folder, or the folder `checkpoints` in it.
        suffixes: of serializers.
    """
    inside = folder / "checkpoints"
    if folder.resolve().name == "checkpoints" and not inside.is_dir():
        inside = folder
    names = os.listdir(inside) if inside.is_dir() else []
    found = {
        name: int(stem)
        for suffix in suffixes
        for name in names
        if name.endswith(suffix) and (stem := name.removesuffix(suffix)).isdecimal()
    }
    return [inside / name for name in sorted(found, key=found.__getitem__)]
