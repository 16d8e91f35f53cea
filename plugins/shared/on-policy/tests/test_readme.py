"""The algorithm in the README trains."""

import re
from pathlib import Path

import attrs

from rlk.component import Component
from rlk.records import Update
from rlk_on_policy.defaults import ON_POLICY

README = Path(__file__).parents[1] / "README.md"
IMPORTS = """
from __future__ import annotations

from rlk.records import Field, Loss
from rlk_on_policy.advantages import logged_advantages
from rlk_on_policy.heads import actor_critic
from rlk_on_policy.minibatches import epochs, flat
from rlk_on_policy.loss_terms import normalised
from rlk_on_policy.policy_group import policy_group
from rlk_on_policy.actor import stochastic_actor
from rlk_on_policy.loss_terms import squared_error
"""


@attrs.frozen(kw_only=True)
class Settings:
    pass


def readme_class():
    (block,) = re.findall(r"```python\n(class Mine:.*?)```", README.read_text(), re.DOTALL)
    found = {}
    exec(IMPORTS + block, found)
    return found["Mine"], found["policy_group"]


def test_the_algorithm_in_the_readme_trains(rlk_make, rlk_kernel):
    mine, policy_group = readme_class()

    class Complete(mine):
        def __init__(self, config, run):
            self.run = run
            policy_group(run, learning_rate=1e-3)

        def steps_per_collect(self):
            return 32

        def update(self, batch, optimise):
            return Update(optimise("policy", self.loss, batch).metrics)

    component = Component(
        name="mine",
        factory=Complete,
        config=Settings,
        collects="on-policy",
        action_spaces=("Discrete",),
        defaults=ON_POLICY,
    )
    rlk_kernel.registries.algorithms.register("mine", component)
    agent = rlk_make("mine", env="CartPole-v1", kernel=rlk_kernel, seed=1)
    before = agent.run.parameters.flat.clone()
    agent.learn(64)
    assert agent.run.clock.updates == 2 * 16
    assert not before.equal(agent.run.parameters.flat)
