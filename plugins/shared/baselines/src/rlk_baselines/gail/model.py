"""`GAIL`: TRPO with rewards learnt from an expert (Ho and Ermon 2016, arXiv 1606.03476)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rlk import hookimpl
from rlk.errors import PlanError
from rlk_adversarial_reward import GAILConfig
from rlk_adversarial_reward.extension import GAILReward
from rlk_baselines.common.base_class import Callback
from rlk_baselines.model_files import Saved
from rlk_baselines.models import ActorCriticRLModel
from rlk_baselines.trpo_mpi import TRPO
from rlk_expert_data import ExpertDataset

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_expert_data import Trajectories

Model = TypeVar("Model", bound="GAIL")
#: Its own parameters, and those of TRPO after them.
OWN: Mapping[str, Any] = {
    "expert_dataset": None,
    "hidden_size_adversary": 100,
    "adversary_entcoeff": 1e-3,
    "g_step": 3,
    "d_step": 1,
    "d_stepsize": 3e-4,
}
_FIRST = (*OWN, "verbose", "_init_setup_model")


class Imitation(GAILReward):
    """GAIL's reward in a model, which may be loaded without an expert and acts without one."""

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return None if self.expert is None else super().rlk_check_plan(plan)

    def _read(self) -> Trajectories:
        if self.expert is None:
            raise PlanError(
                "GAIL learns from an expert: GAIL(policy, env, expert_dataset), or of a loaded "
                "model load(path, env=env, expert_dataset=dataset)."
            )
        return super()._read()


class GAIL(ActorCriticRLModel):
    """Generative adversarial imitation learning.

    Args:
        expert_dataset: an `ExpertDataset`.
        hidden_size_adversary: units of the hidden layers of the classifier.
        adversary_entcoeff: weight of its entropy.
        g_step: updates of the policy between two of the classifier.
        d_step: batches in one of these.
        d_stepsize: the classifier's learning rate.
        others: those of `TRPO`.
    """

    algo = "trpo"
    trains_over_mpi = True
    names = (*_FIRST, *(name for name in TRPO.names if name not in _FIRST))
    usual: ClassVar[Mapping[str, Any]] = {**OWN, **TRPO.usual}
    learns_from_vectors = False
    rows_every = 1

    def _plugins(self) -> list[Any]:
        given = {name: self._given[name] for name in OWN}
        dataset = given.pop("expert_dataset")
        if not isinstance(dataset, ExpertDataset | None):
            raise PlanError(
                f"expert_dataset must be an ExpertDataset, got {type(dataset).__name__}. Say "
                "ExpertDataset(expert_path='expert.npz')."
            )
        expert = None if dataset is None else dataset.trajectories
        self._reward = Imitation(GAILConfig(**given), expert)
        return [*super()._plugins(), self._reward]

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in settings.items() if key not in OWN}

    def about(self) -> dict[str, Any]:
        own = {key: value for key, value in self._given.items() if key in tuple(OWN)[1:]}
        assert self._reward.adversary is not None
        learnt = self._reward.adversary.state_dict()
        return {**super().about(), "own": own, "adversary": learnt}

    def go_on(self, saved: Saved, env: Any) -> None:
        """As of `Constructed`; with the classifier, whose dataset is passed again."""
        given = saved.given
        given.update({k: v for k, v in saved.about["own"].items() if k not in saved.changes})
        super().go_on(saved, env)
        assert self._reward.adversary is not None
        self._reward.adversary.load_state_dict(saved.about["adversary"])

    def learn(
        self: Model,
        total_timesteps: int,
        callback: Callback = None,
        log_interval: int = 100,
        tb_log_name: str = "GAIL",
        reset_num_timesteps: bool = True,
    ) -> Model:
        """As `BaseRLModel.learn`; progress is reported by the environment's own rewards."""
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps
        )
