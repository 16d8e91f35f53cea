"""How a discriminator gives rewards and learns. B transitions in a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from rlk.abilities import Discounts, offers
from rlk.errors import NotFinite, PlanError
from rlk.protocols import State
from rlk.records import Array
from rlk_adversarial_reward.config import GAILConfig
from rlk_adversarial_reward.loss import discriminator_loss
from rlk_adversarial_reward.transitions import Transitions, of_rollout, size_of
from rlk_networks import load_optimiser_state, optimiser_state
from rlk_schedules import as_schedule

if TYPE_CHECKING:
    from rlk.running.run import Run

#: The run's random stream for the choice of transitions, and for the network's initial weights.
STREAM = "adversary"


class Adversary:
    """A discriminator with its optimiser, in a run.

    Args:
        run: whose collections are judged.
        config: how it learns.
        make_discriminator: makes one for so many numbers of an observation and of an action, and
            for a discount.
        expert_transitions: returns those of the expert; called once, by `prepare`.

    Attributes:
        expert: those transitions, or None before `prepare`.
    """

    def __init__(
        self,
        run: Run,
        config: GAILConfig,
        make_discriminator: Callable[[int, int, float], Any],
        expert_transitions: Callable[[], Transitions],
    ) -> None:
        self.run, self.config = run, config
        self._expert_transitions = expert_transitions
        self.expert: Transitions | None = None
        self._order: Array = np.zeros(0, np.int64)  # the expert's transitions that remain of a pass
        self._judged = 0
        self._expected = 0  # the number of the expert's transitions, once it is known
        self.discriminator = self._equal_on_ranks(make_discriminator)
        self._parameters = list(self.discriminator.parameters())
        self._optimiser = torch.optim.Adam(self._parameters)
        self._step_size = run.schedule("d_stepsize", as_schedule(config.d_stepsize))

    def _equal_on_ranks(self, make: Callable[[int, int, float], Any]) -> Any:
        """A discriminator that begins with the same parameters on every rank."""
        run, settings = self.run, self.run.plan.algorithm.config
        gamma = float(settings.gamma) if offers(settings, Discounts) else 1.0
        with run.streams.globally(STREAM):
            made = make(size_of(run.observation_space), size_of(run.action_space), gamma)
        for parameter in made.parameters():
            parameter.data.copy_(torch.as_tensor(run.communicator.agree(parameter.data.numpy())))
        return made

    def prepare(self) -> None:
        """Read the expert's transitions, if they have not been read: before anything is collected.

        Raises:
            BadFile, PlanError: if there are none, they do not fit, or those of the checkpoint were
                others.
        """
        if self.expert is not None:
            return
        expert = self._expert_transitions()
        if self._expected not in (0, len(expert)):
            raise PlanError(
                f"the expert had {self._expected} transitions when the checkpoint was written, and "
                f"has {len(expert)} now. Resume with that file and traj_limitation."
            )
        self.expert, self._expected = expert, len(expert)

    def judge(self) -> None:
        """Give the latest collection its rewards, then train the discriminator if that is due."""
        rollout: Any = self.run.storage.latest()
        found = of_rollout(self.run, rollout)
        self._see(found.seen)
        with torch.no_grad():
            rewards = self.discriminator.reward(self._logits(found))
        rollout.reward[...] = rewards.numpy().reshape(rollout.reward.shape)
        self.run.metrics.add("train/learnt_reward", float(rewards.mean()))
        self._judged += 1
        if self._judged % self.config.g_step == 0:
            self._train(found)

    def _train(self, found: Transitions) -> None:
        """One pass over the collection, with the same number of the expert's transitions."""
        self._optimiser.param_groups[0]["lr"] = float(self._step_size)
        order, add = self.run.streams.numpy(STREAM).permutation(len(found)), self.run.metrics.add
        for index in np.array_split(order, min(self.config.d_step, len(found))):
            expert = self._of_expert(len(index))
            self._see(expert.seen)
            policy_logits, expert_logits = self._logits(found[index]), self._logits(expert)
            loss = discriminator_loss(policy_logits, expert_logits, self.config.adversary_entcoeff)
            self._step(loss)
            add("train/discriminator_loss", float(loss.detach()))
            add("train/discriminator_policy", float((policy_logits < 0).float().mean()))
            add("train/discriminator_expert", float((expert_logits > 0).float().mean()))

    def _step(self, loss: Tensor) -> None:
        """One step of Adam with the mean gradient of all ranks.

        Raises:
            NotFinite: instead, if that is not finite.
        """
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = []
        for parameter in self._parameters:
            if parameter.grad is not None:
                parameter.grad = self.run.communicator.mean(parameter.grad)
                gradients.append(parameter.grad)
        norm = float(torch.nn.utils.get_total_norm(gradients))
        if not math.isfinite(norm):
            raise NotFinite(
                f"the gradient of the discriminator has a norm of {norm}, and it is that of the "
                "step before. Lower d_stepsize, or look for large numbers in observations and "
                "actions, of the expert or the run."
            )
        self._optimiser.step()

    def _logits(self, transitions: Transitions) -> Tensor:
        return self.discriminator.logits(transitions, self._log_prob(transitions))

    @torch.no_grad()
    def _log_prob(self, transitions: Transitions) -> Tensor | None:
        """log pi(a|s) of the current policy, [B], if the discriminator needs it."""
        if not self.discriminator.needs_log_prob:
            return None
        run = self.run
        observation = torch.as_tensor(transitions.observation).to(run.device)
        action = torch.as_tensor(transitions.action).to(run.device)
        (parameters,) = run.policy(observation, "pi")
        log_prob: Tensor = run.distribution.log_prob(parameters, action)
        return log_prob.cpu()

    def _of_expert(self, count: int) -> Transitions:
        """So many transitions of the expert, in passes of shuffled order."""
        assert self.expert is not None, "prepare() comes before judge()"
        while len(self._order) < count:
            again = self.run.streams.numpy(STREAM).permutation(len(self.expert))
            self._order = np.concatenate((self._order, again))
        chosen, self._order = np.split(self._order, [count])
        return self.expert[chosen]

    def _see(self, rows: Array) -> None:
        """Add observations to the moments for normalisation, on all ranks."""
        mine = rows.mean(axis=0), rows.var(axis=0), float(len(rows))
        for moments in self.run.communicator.gather(mine):
            self.discriminator.rows.moments.merge(*moments)

    # ---- state -----------------------------------------------------------------------------------

    def state_dict(self) -> State:
        """All that it has learnt, and its position in the expert's transitions."""
        return {
            "network": dict(self.discriminator.state_dict()),
            "rows": self.discriminator.rows.state_dict(),
            "adam": optimiser_state(self._optimiser),
            "order": self._order,
            "judged": self._judged,
            "expert_transitions": self._expected,
        }

    def load_state_dict(self, state: State) -> None:
        """Restore the result of `state_dict`.

        Raises:
            RuntimeError, ValueError: if the spaces or the sizes differ.
        """
        self.discriminator.load_state_dict(state["network"])
        self.discriminator.rows.load_state_dict(state["rows"])
        load_optimiser_state(self._optimiser, state["adam"])
        self._order = np.asarray(state["order"], np.int64)
        self._judged = int(state["judged"])
        self._expected = int(state["expert_transitions"])
