"""A run begins with the policy of a saved model: planning checks that it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.errors import BadFile
from rlk.files import users_path
from rlk.hookspecs import hookimpl
from rlk.planning.layers import Rank
from rlk_model_start.config import ModelStartConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run

NAME = "model-start"
_OWNER = f"plugin {NAME!r} (rlk-{NAME})"
_CONVERT = (
    "\nA file of Stable Baselines itself is converted first: "
    "rlk import FILE --env ENV --out MODEL.zip"
)


class ModelStart:
    """Gives a new run the parameters of a model; a continued run has its own."""

    def __init__(self, config: ModelStartConfig | None = None) -> None:
        self._config = config or ModelStartConfig()

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Check that there is such a model, with the same spaces and the same policy."""
        from rlk.saving import saved_files  # this module is loaded with every plan
        from rlk_model_start.fit import other_policy, other_spaces

        if plan.restores_state:
            return None if _was_saved(plan) else f"{_OWNER} {_GOES_ON}"
        if self._config.path is None:
            return f"{_OWNER} {_NO_PATH}"
        path = users_path(self._config.path)
        try:
            saved = saved_files.read_manifest(path, plan.kernel)
        except BadFile as error:
            is_told = "rlk import" in str(error) or not path.is_file()
            return f"{_OWNER}: {error}{'' if is_told else _CONVERT}"
        problem = other_spaces(saved["plan"], plan) or other_policy(saved["plan"], plan)
        return None if problem is None else f"{_OWNER}: {path} {problem}"

    @hookimpl
    def rlk_built(self, run: Run) -> None:
        """Load the model.

        Raises:
            BadFile: if it does not fit.
        """
        from rlk_model_start.begin import begin

        if not run.plan.restores_state and self._config.path is not None:
            begin(run, users_path(self._config.path), exact_match=self._config.exact_match)


_NO_PATH = (
    f"needs a model to begin with. Use --plugin {NAME}:path=MODEL, with a model, a checkpoint or a "
    "run folder."
)
_GOES_ON = (
    "begins a new run, but this run continues from a saved state. Leave it out, or begin a new run "
    f"with rlk run --algo NAME --env ENV --plugin {NAME}:path=MODEL, or rlk.make."
)


def _was_saved(plan: Plan) -> bool:
    """Whether the run had begun with a model, according to the saved plan."""
    own = (choice for choice in plan.extensions if choice.name == NAME)
    sources = (choice.sources.get("path") for choice in own)
    return any(source is not None and source.rank == Rank.SAVED for source in sources)
