"""`gail-reward` and `airl-reward`: collections get rewards that are learnt from an expert.

Metrics show the environment's own rewards; nothing learns from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError, RlkError
from rlk.hookspecs import Collect, WrapsCollect, hookimpl
from rlk_adversarial_reward.config import AIRLConfig, GAILConfig

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_adversarial_reward.discriminator import Discriminator
    from rlk_adversarial_reward.learning import Adversary
    from rlk_expert_data import Trajectories


class LearntReward:
    """Replaces the rewards of collections by those of a discriminator, which it also trains.

    Args:
        config: whose behaviour is imitated, and how.
        expert: the expert's data, instead of a file.
    """

    config_class: type[GAILConfig] = GAILConfig
    name = "gail-reward"

    def __init__(
        self, config: GAILConfig | None = None, expert: Trajectories | None = None
    ) -> None:
        self.config = config or self.config_class()
        self.expert = expert
        self.adversary: Adversary | None = None

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Check that there is expert data, and that it fits the run's spaces."""
        if self.expert is None and self.config.expert_path is None:
            return self._wanted()
        if self.expert is not None and self.config.expert_path is not None:
            return (
                f"plugin {self.name!r} (rlk-adversarial-reward) imitates one expert, and got "
                f"expert_path={self.config.expert_path!r} and trajectories. Pass one of them."
            )
        from rlk_expert_data.source import Absent

        try:
            self._read().fitted(plan.observation_space, plan.action_space)
        except RlkError as error:
            # A model can be loaded without its file; training on is then refused.
            if not (isinstance(error, Absent) and plan.restores_state):
                return f"plugin {self.name!r}: {error}"
        return self._refused(plan)

    def _wanted(self) -> str:
        return (
            f"plugin {self.name!r} (rlk-adversarial-reward) imitates an expert. Use "
            f"--set {self.name}.expert_path=FILE, a file of rlk_expert_data.generate_expert_traj "
            "or minari:ID."
        )

    def _refused(self, plan: Plan) -> str | None:
        """Other reasons to refuse a plan."""
        if plan.algorithm.component.collects == "on-policy":
            return None
        return (
            f"plugin {self.name!r} gives the latest collection its rewards, and "
            f"{plan.algorithm.title} also learns from earlier ones, which keep the environment's. "
            "Use --set model=trpo, ppo2 or another on-policy algorithm."
        )

    def _read(self) -> Trajectories:
        """Read the expert's data.

        Raises:
            BadFile: if the file is missing or damaged.
            PlanError: if no file was given.
        """
        from rlk_expert_data import read

        if self.expert is not None:
            return self.expert.limited(self.config.traj_limitation)
        if self.config.expert_path is None:
            raise PlanError(self._wanted())
        return read(self.config.expert_path, self.config.traj_limitation)

    @hookimpl(trylast=True)
    def rlk_wrap_collector(self, run: Run) -> WrapsCollect:
        """Replace the rewards of a collection before the algorithm learns from it.

        It is the outermost wrapper: rewards are replaced only if the collection is complete on all
        ranks.
        """
        from rlk_adversarial_reward.learning import Adversary

        made = Adversary(run, self.config, self._discriminator, self._transitions(run))
        self.adversary = adversary = made

        def wrapper(collect: Collect) -> Collect:
            def collected() -> bool:
                adversary.prepare()
                is_whole = collect()
                if is_whole:
                    adversary.judge()
                return is_whole

            return collected

        return wrapper

    def _discriminator(self, observation: int, action: int, gamma: float) -> Discriminator:
        """A new one, for so many numbers of an observation and of an action."""
        raise NotImplementedError

    def _transitions(self, run: Run) -> Callable[[], Any]:
        """A function that returns the expert's transitions, called when they are first needed."""
        from rlk_adversarial_reward.transitions import every_pair

        return lambda: every_pair(run, self._read())

    @hookimpl
    def rlk_save(self) -> State | None:
        return None if self.adversary is None else self.adversary.state_dict()

    @hookimpl
    def rlk_load(self, state: State) -> None:
        assert self.adversary is not None
        self.adversary.load_state_dict(state)


class GAILReward(LearntReward):
    """r = -log(1 - D(s, a)): Ho and Ermon 2016, arXiv 1606.03476."""

    def _discriminator(self, observation: int, action: int, gamma: float) -> Discriminator:
        from rlk_adversarial_reward.discriminator import GAILDiscriminator

        return GAILDiscriminator(observation, action, self.config.hidden_size_adversary)


class AIRLReward(LearntReward):
    """r = log D - log(1 - D), with a discriminator that contains a reward: arXiv 1710.11248."""

    config: AIRLConfig
    config_class = AIRLConfig
    name = "airl-reward"

    def _refused(self, plan: Plan) -> str | None:
        if not plan.policy.component.recurrent:
            return super()._refused(plan)
        return (
            f"plugin {self.name!r} asks how likely the policy does what the expert did, and "
            f"{plan.policy.title} remembers what went before. Use another policy (--policy mlp), "
            "or gail-reward."
        )

    def _read(self) -> Trajectories:
        """Read the expert's data; PlanError, too, if no next observation is known."""
        expert = super()._read()
        now, _, _ = expert.following()
        if not len(now):
            raise PlanError(
                f"each episode of {expert.whose} has a single step, and it does not say how they "
                "ended, so there is no next observation to learn from. Record it again with "
                "rlk_expert_data.generate_expert_traj, or use gail-reward, which needs none."
            )
        return expert

    def _discriminator(self, observation: int, action: int, gamma: float) -> Discriminator:
        from rlk_adversarial_reward.discriminator import AIRLDiscriminator

        hidden, state_only = self.config.hidden_size_adversary, self.config.state_only
        return AIRLDiscriminator(observation, action, hidden, gamma, state_only)

    def _transitions(self, run: Run) -> Callable[[], Any]:
        from rlk_adversarial_reward.transitions import of_expert

        return lambda: of_expert(run, self._read())
