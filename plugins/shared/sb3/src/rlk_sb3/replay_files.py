"""Files of `save_replay_buffer`: zips of rlk under the names that Stable-Baselines3 gives them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.saving import checkpoint, saved_files
from rlk.saving.manifest import check_manifest
from rlk_baselines.refusals import refused
from rlk_baselines.saved_models.model_files import (
    write_to_open,
    zip_serializer,
)
from rlk_baselines.saved_models.places import Place, file_at, refuse_no_place, with_suffix

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.protocols import Serializer
    from rlk.running.run import Run


def save(run: Run, place: Place) -> None:
    """Write the contents of the replay; a path without a suffix gets `.pkl`.

    Raises:
        Refused: if `place` is neither a path nor an open binary file, or is the file of a model.
    """
    refuse_no_place(place, "write", "a replay")
    if run.communicator.rank != 0:
        return
    state = checkpoint.replay_state(run)
    serializer: Serializer = run.plan.serializer.make()
    if not isinstance(place, (str, os.PathLike)):
        write_to_open(place, state, serializer)
        return
    path = with_suffix(place, ".pkl")
    with refused():
        saved_files.refuse_to_lose_a_model(path, serializer)
    serializer.write(path, state)


def load(agent: Agent, place: Place) -> None:
    """Replace the replay of an agent by a saved one.

    Raises:
        BadFile: if the file is damaged or holds no replay.
        Refused: if `place` is neither a path nor an open binary file with something to read.
    """
    if not isinstance(place, (str, os.PathLike)):
        refuse_no_place(place, "read", "a replay")
        with file_at(place) as copy:
            agent.load_replay_buffer(copy)
        return
    path = _written(place)
    if path.suffix == ".zip" or not path.is_file():
        agent.load_replay_buffer(path)
        return
    state = zip_serializer().read(path)  # whatever its suffix is
    check_manifest(path, state.get("manifest"))
    checkpoint.adopt_replay(agent.run, state)


def _written(place: str | os.PathLike[str]) -> Path:
    """The file for a path: with `.pkl`, or with `.zip`, which this package wrote once."""
    path = Path(place)
    others = [path.with_name(f"{path.name}{suffix}") for suffix in (".pkl", ".zip")]
    if path.suffix == ".pkl":
        others.append(path.with_suffix(".zip"))
    return next((one for one in (path, *others) if one.is_file()), path)
