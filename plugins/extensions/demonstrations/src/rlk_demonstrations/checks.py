"""Refuses, while planning, an expert's data that the run's replay cannot begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, PlanError
from rlk_replay.config import steps_per_env

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_demonstrations.config import DemonstrationsConfig
    from rlk_demonstrations.transitions import Transitions

OWNER = "plugin 'demonstrations' (rlk-demonstrations)"


def check(config: DemonstrationsConfig, plan: Plan) -> None:
    """Check that there is data, that it fits the run, and that the replay has room for it.

    Nothing is read for a saved run, which may have begun with the data long ago.

    Raises:
        PlanError: saying what to type.
    """
    if config.expert_path is None:
        raise PlanError(
            f"{OWNER} needs an expert's data. Use --plugin demonstrations:expert_path=FILE, with a "
            "file of rlk_expert_data.generate_expert_traj or minari:ID."
        )
    if plan.storages[0].component.collects not in ("off-policy", None):
        raise PlanError(
            f"{OWNER} fills a replay, but {plan.storages[0].title} is none. Leave it out, or use "
            "one of: rlk plugins list --collects off-policy"
        )
    if plan.info_keys:
        raise PlanError(
            f"{OWNER}: the run's storages keep infos with every step "
            f"({', '.join(plan.info_keys)}), and an expert's data has none. Leave info_keys out."
        )
    if not plan.restores_state:
        try:
            transitions_for(config, plan)
        except BadFile as error:
            raise PlanError(f"{OWNER}: {error}") from None


def transitions_for(config: DemonstrationsConfig, plan: Plan) -> Transitions:
    """The expert's transitions, in the form of the run's spaces.

    Raises:
        BadFile: if the file is missing or damaged.
        PlanError: if the data does not fit, or is more than the replay holds.
    """
    from rlk_demonstrations.transitions import transitions_of  # components import no numpy
    from rlk_expert_data import read

    assert config.expert_path is not None
    data = read(config.expert_path, config.traj_limitation)
    found = transitions_of(data, plan.observation_space, plan.action_space)
    _check_size(len(found), data.whose, plan)
    return found


def _check_size(size: int, whose: str, plan: Plan) -> None:
    """PlanError if a replay of the run has no room for so many transitions, or they are too few."""
    if size < plan.n_envs:
        raise PlanError(
            f"{OWNER}: {whose} has {size} transitions whose next observation is known, fewer than "
            f"there are environments, n_envs={plan.n_envs}. Record more episodes."
        )
    storage: Any = plan.storages[0].config
    buffer_size: int | None = getattr(storage, "buffer_size", None)
    if buffer_size is None:
        return  # a storage of another package, which decides for itself what it keeps
    each = size // plan.n_envs
    if each > steps_per_env(buffer_size, plan.n_envs):
        raise PlanError(
            f"{OWNER}: {whose} has {size:,} transitions, more than the replay keeps with "
            f"buffer_size={buffer_size} and n_envs={plan.n_envs}. Set buffer_size to "
            f"{each * plan.n_envs} or more, or use fewer episodes: "
            "--set demonstrations.traj_limitation=…"
        )
