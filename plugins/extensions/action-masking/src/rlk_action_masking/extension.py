"""The hooks of masks: planning sees the space without them, the policy separates them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from rlk.hookspecs import hookimpl
from rlk.planning.spec import Patch
from rlk.spaces import describe
from rlk_action_masking.masks import KEY, TITLE, empty_mask_check, options, without_mask

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run


class ActionMasking:
    """Makes policies of the run give forbidden actions the probability zero."""

    @hookimpl
    def rlk_configure(self) -> Patch:
        return Patch({"plugins": ["action-masks"]}, reason="masks travel beside the observation")

    @hookimpl
    def rlk_policy_space(self, plan: Plan) -> Any:
        return without_mask(plan.observation_space)

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Check that the algorithm learns probabilities, from observations with the right mask."""
        algorithm, space = plan.algorithm, plan.observation_space
        if algorithm.component.collects == "off-policy":
            return (
                f"{TITLE} masks probabilities of actions, but {algorithm.title} learns none that "
                "it acts by. Use an on-policy algorithm: rlk plugins list --collects on-policy"
            )
        if without_mask(space) is None:
            return (
                f"{TITLE} takes the mask from the key {KEY!r} of the observation, but the "
                f"environment's observations are {describe(space)}. Use --plugin action-masks, "
                "after every wrapper that changes observations."
            )
        expected = spaces.MultiBinary(sum(options(plan.action_space)))
        if space[KEY] != expected:
            return (
                f"{TITLE}: masks of {describe(plan.action_space)} must be {expected}, but the key "
                f"{KEY!r} of the observation is {describe(space[KEY])}."
            )
        return None

    @hookimpl
    def rlk_check_observation(self, run: Run) -> Callable[[Any], None]:
        return empty_mask_check(run.action_space)

    @hookimpl
    def rlk_make_policy(self, run: Run, heads: Any) -> Any:
        """The chosen component's policy of observations without masks, in a module that masks."""
        # Imported here: this module is loaded with every plan, the networks only with an agent.
        from rlk_action_masking.network import check_maskable, masked

        policy = run.plan.policy.make().build(run.plan.policy_space, heads)
        check_maskable(policy, run)
        return masked(policy, run.distribution, run.observation_space)
