"""A run begins with the replay of another run: its transitions exist before the first step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import BadFile
from rlk.files import looking_at, users_path
from rlk.hookspecs import hookimpl
from rlk.terminal import print_on
from rlk_model_files.locate import checkpoints
from rlk_replay_start.config import ReplayStartConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.registry.kernel import Kernel
    from rlk.running.run import Run

_TYPE = "--plugin replay-start:run=RUN"


class ReplayStart:
    """Loads the replay when training starts, once; a resumed run has it in its own."""

    def __init__(self, config: ReplayStartConfig | None = None) -> None:
        self._config = config or ReplayStartConfig()
        self._is_done = False

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Check that there is a run to begin with, and a replay to put its transitions into.

        A saved run is not checked: it may have begun with the other one long ago.
        """
        from rlk.saving import saved_files  # this module is loaded with every plan

        if self._config.run is None:
            return (
                "plugin 'replay-start' (rlk-replay-start) needs a run whose replay to begin with. "
                f"Use {_TYPE}, with a run folder, a checkpoint or a file of save_replay_buffer."
            )
        storage = plan.storages[0]
        if storage.component.collects not in ("off-policy", None):
            return (
                f"plugin 'replay-start' (rlk-replay-start) fills a replay, but {storage.title} is "
                "none. Leave it out, or use one of: rlk plugins list --collects off-policy"
            )
        if not plan.restores_state:
            try:
                path = newest(users_path(self._config.run), plan.kernel)
                saved_files.read_manifest(path, plan.kernel, content="storage")
            except BadFile as error:
                return _cannot_begin(error)
        return None

    @hookimpl(tryfirst=True)
    def rlk_training_start(self, run: Run) -> None:
        """Load the replay.

        Raises:
            BadFile: if there is no such run, or it has no replay that fits.
        """
        # Imported here: this module is loaded with every plan, torch only with a run.
        from rlk.saving import checkpoint, saved_files

        if self._is_done or self._config.run is None:
            return
        kernel = run.plan.kernel
        try:
            path = newest(users_path(self._config.run), kernel)
            checkpoint.adopt_replay(run, saved_files.read(path, kernel, content="storage"))
        except BadFile as error:
            raise BadFile(_cannot_begin(error)) from error
        self._is_done = True
        if run.plan.verbose and run.communicator.rank == 0:
            begins = f"the run begins with {len(run.storage):,} transitions of {path}"
            print_on(sys.stderr, f"replay-start: {begins}")

    @hookimpl
    def rlk_save(self, replay: bool) -> State:
        """Whether the saved replay has the transitions."""
        return {"is_done": self._is_done and replay}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._is_done = bool(state["is_done"])


def _cannot_begin(error: BadFile) -> str:
    return (
        f"plugin 'replay-start' (rlk-replay-start) cannot begin the replay: {error} Name another "
        f"run ({_TYPE}), or leave the plugin out: --plugin no:replay-start"
    )


def newest(place: Path, kernel: Kernel) -> Path:
    """The file with the replay of a run; in a folder, its newest checkpoint.

    Args:
        place: the folder, or the file itself.
        kernel: provides the serializers.

    Raises:
        BadFile: if it has none, or cannot be read.
    """
    from rlk.saving import saved_files

    suffixes = [one.suffix for one in saved_files.serializers(kernel)]
    with looking_at(place, f"cannot read {place}"):
        if not place.is_dir():
            return place
        found = checkpoints(place, *suffixes)
    if not found:
        raise BadFile(f"{place} holds no checkpoint, so it has no replay to begin with.")
    return found[-1]
