"""`GAIL`: TRPO with a reward learnt from an expert (Ho and Ermon 2016, arXiv 1606.03476)."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import attrs
import numpy as np
import torch

from rlk import hookimpl
from rlk.errors import PlanError
from rlk.protocols import State
from rlk.records import Array
from rlk_adversarial_reward.component import gail_reward
from rlk_adversarial_reward.extension import GAILReward
from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import Argument, constructor
from rlk_baselines.models import SegmentModel
from rlk_baselines.refusals import ParametersDoNotFit
from rlk_baselines.saved_models.model_files import KEY, Saved, parameters_in
from rlk_baselines.trpo_mpi.trpo_mpi import OF_TRPO
from rlk_expert_data import ExpertDataset

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_adversarial_reward.learning import Adversary
    from rlk_expert_data import Trajectories

#: The arguments of GAIL itself; the others are those of TRPO.
_OWN = (
    Argument("expert_dataset", rlk=None),
    Argument("hidden_size_adversary", rlk="gail-reward.hidden_size_adversary", change="refuse"),
    Argument("adversary_entcoeff", rlk="gail-reward.adversary_entcoeff"),
    Argument("g_step", rlk="gail-reward.g_step"),
    Argument("d_step", rlk="gail-reward.d_step"),
    Argument("d_stepsize", rlk="gail-reward.d_stepsize"),
)
#: The prefix of the discriminator's parameter names.
_PREFIX = "adversary/"


class Imitation(GAILReward):
    """GAIL's reward in a model, which can be loaded, and can act, without an expert."""

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


class GAIL(SegmentModel):
    """Generative adversarial imitation learning (Ho and Ermon 2016, arXiv 1606.03476).

    Args:
        expert_dataset: an `ExpertDataset`.
        hidden_size_adversary: the number of units in each hidden layer of the discriminator.
        adversary_entcoeff: the weight of the discriminator's entropy.
        g_step: policy updates between two updates of the discriminator.
        d_step: batches per update of the discriminator.
        d_stepsize: the discriminator's learning rate.
        others: the parameters of `TRPO`.
    """

    algo = "trpo"
    knows_rewards = False

    @constructor(*_OWN, *OF_TRPO)
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        expert_dataset: ExpertDataset | None = None,
        hidden_size_adversary: int = 100,
        adversary_entcoeff: float = 0.001,
        g_step: int = 3,
        d_step: int = 1,
        d_stepsize: Schedulable = 0.0003,
        verbose: int = 0,
        _init_setup_model: bool = True,
        gamma: float = 0.99,
        timesteps_per_batch: int = 1024,
        max_kl: float = 0.01,
        cg_iters: int = 10,
        lam: float = 0.98,
        entcoeff: float = 0.0,
        cg_damping: float = 0.01,
        vf_stepsize: Schedulable = 0.0003,
        vf_iters: int = 3,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        full_tensorboard_log: bool = False,
        seed: int | None = None,
        n_cpu_tf_sess: int | None = 1,
    ) -> None: ...

    def _plugins(self) -> list[Any]:
        dataset = self._given["expert_dataset"]
        if not isinstance(dataset, ExpertDataset | None):
            raise PlanError(
                f"expert_dataset must be an ExpertDataset, got {type(dataset).__name__}. Use "
                "ExpertDataset(expert_path='expert.npz')."
            )
        expert = None if dataset is None else dataset.trajectories
        imitation = partial(Imitation, expert=expert)
        reward = attrs.evolve(gail_reward, kind="extensions", factory=imitation)
        return [*super()._plugins(), reward]

    def about(self) -> dict[str, Any]:
        return {**super().about(), "adversary": self._adversary.state_dict()}

    def load_from(self, saved: Saved, env: Any) -> None:
        """As in `Constructed`, with the discriminator; the dataset must be passed again."""
        super().load_from(saved, env)
        self._adversary.load_state_dict(saved.about["adversary"])

    def further_parameters(self, state: State) -> dict[str, Array]:
        """The discriminator's parameters, and the moments that normalise its observations."""
        return _named(state.get(KEY, {}).get("adversary", {"network": {}, "rows": {}}))

    def get_parameters(self) -> OrderedDict[str, Array]:
        """As in `BaseRLModel`; names of the discriminator's parameters begin with `adversary/`."""
        found = super().get_parameters()
        found.update(_named(self._adversary.state_dict()))
        return found

    def load_parameters(
        self,
        load_path_or_dict: Mapping[str, Any] | Sequence[Any] | str | os.PathLike[str] | IO[bytes],
        exact_match: bool = True,
    ) -> None:
        """As in `BaseRLModel`, with the discriminator's parameters."""
        values = load_path_or_dict
        if not isinstance(values, Mapping):
            values = parameters_in(values, self)
        given = {name: one for name, one in values.items() if name.startswith(_PREFIX)}
        state = self._adversary.state_dict()
        own = _named(state)
        _check(given, own, exact_match)
        rest = {name: one for name, one in values.items() if name not in given}
        super().load_parameters(rest, exact_match)
        now = {**own, **given}
        for name, one in state["network"].items():
            one.copy_(torch.as_tensor(now[f"{_PREFIX}{_path(name)}"]))
        for name, one in state["rows"].items():
            one[...] = now[f"{_PREFIX}rows/{name}"]

    @property
    def _adversary(self) -> Adversary:
        """The discriminator and its training, which belong to the agent."""
        return self.agent.run.hooks.get(gail_reward.name).adversary


def _named(state: Mapping[str, Any]) -> dict[str, Array]:
    """The values in the state of a discriminator, copied, by their names in `get_parameters`."""
    found = {f"{_PREFIX}{_path(name)}": one for name, one in state["network"].items()}
    found |= {f"{_PREFIX}rows/{name}": one for name, one in state["rows"].items()}
    return {name: torch.as_tensor(one).numpy().copy() for name, one in found.items()}


def _path(name: str) -> str:
    return name.replace(".", "/")


def _check(given: Mapping[str, Any], own: Mapping[str, Array], exact_match: bool) -> None:
    """Raise ParametersDoNotFit if names or shapes are not those of the discriminator."""
    wrong = sorted(given.keys() ^ own.keys() if exact_match else given.keys() - own.keys())
    if wrong:
        what = "no parameters" if wrong[0] in given else "missing"
        raise ParametersDoNotFit(f"the discriminator of this GAIL: {what} {wrong}.")
    for name, one in given.items():
        if np.shape(one) != own[name].shape:
            raise ParametersDoNotFit(
                f"parameter {name!r} has shape {own[name].shape} here and {np.shape(one)} there."
            )
