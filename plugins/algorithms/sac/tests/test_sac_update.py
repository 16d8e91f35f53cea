"""SAC's update, against one written out, and its three groups."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import rlk
from rlk_off_policy.batch_noise import with_noise
from rlk_sac.algorithm import MOVES_TARGET

MATCH = "rlk_testing.environments:BoxMatch"
SMALL = {"learning_starts": 50, "batch_size": 32, "policy": {"layers": [32]}}


def batch_of(agent, rows, key=MOVES_TARGET):
    """Transitions of the agent's replay with the noise that an update takes."""
    run = agent.run
    rng = run.streams.numpy("update")
    noise = {name: run.distribution.noise(rng, rows) for name in ("noise", "next_noise")}
    return dataclasses.replace(with_noise(run.storage.sample(rows), "cpu", **noise), key=key)


# ---- an update, against one written out ----------------------------------------------------------


def adam(flat, gradient, state, rate):
    """One step of Adam as its paper has it, in place."""
    count, mean, square = state.setdefault("s", [0, torch.zeros_like(flat), torch.zeros_like(flat)])
    state["s"][0] = count = count + 1
    mean.mul_(0.9).add_(gradient, alpha=0.1)
    square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    step = (mean / (1 - 0.9**count)) / ((square / (1 - 0.999**count)).sqrt() + 1e-8)
    flat.sub_(rate * step)


class WrittenOut:
    """SAC as the papers write it: a module for each critic, a loop over both, autograd's grad."""

    def __init__(self, agent: rlk.Agent, rate: float, gamma_alpha: float) -> None:
        policy = agent.run.policy
        self.pi = self.linears(policy.pi.trunk, policy.pi.out.weight, policy.pi.out.bias)
        trunk = policy.qf.trunk
        self.q = [
            [
                *[(w[c].detach().clone(), b[c, 0].detach().clone())
                  for w, b in zip(trunk.weights, trunk.biases, strict=True)],
                (policy.qf.weight[c].detach().clone().T, policy.qf.bias[c].detach().clone()),
            ]
            for c in range(2)
        ]  # fmt: skip
        self.target = [[(w.clone(), b.clone()) for w, b in q] for q in self.q]
        self.log_alpha = torch.tensor(math.log(gamma_alpha))
        self.rate, self.states = rate, {"q": {}, "pi": {}, "alpha": {}}

    @staticmethod
    def linears(trunk, weight, bias):
        hidden = [(layer.weight.detach().clone(), layer.bias.detach().clone())
                  for layer in trunk.layers]  # fmt: skip
        return [*hidden, (weight.detach().clone(), bias.detach().clone())]

    @staticmethod
    def forward(layers, x):
        for i, (weight, bias) in enumerate(layers):
            x = x @ weight + bias
            x = torch.relu(x) if i + 1 < len(layers) else x
        return x

    def act(self, observation: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_std = self.forward(self.pi, observation).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-20, 2).exp())
        u = mean + normal.stddev * noise
        return torch.tanh(u), (normal.log_prob(u) - torch.log(1 - torch.tanh(u) ** 2)).sum(-1)

    def step(self, name, tensors, value):
        grads = torch.autograd.grad(value, tensors)
        with torch.no_grad():
            for i, (tensor, gradient) in enumerate(zip(tensors, grads, strict=True)):
                adam(tensor, gradient, self.states[name].setdefault(i, {}), self.rate)
                tensor.requires_grad_(False)

    def tensors(self, *stacks):
        return [t.requires_grad_() for stack in stacks for layer in stack for t in layer]

    def update(self, b, tau: float, wanted: float) -> Tensor:
        with torch.no_grad():
            action, log_prob = self.act(b.next_observation, b.extras["next_noise"])
            x = torch.cat([b.next_observation, action], 1)
            values = [self.forward(q, x)[:, 0] for q in self.target]
            y = b.reward + b.discount * (torch.minimum(*values) - self.log_alpha.exp() * log_prob)
        weights = self.tensors(*self.q)
        x = torch.cat([b.observation, b.action], 1)
        errors = [self.forward(q, x)[:, 0] - y for q in self.q]
        self.step("q", weights, sum(0.5 * (b.weight * e**2).mean() for e in errors))
        weights = self.tensors(self.pi)
        action, log_prob = self.act(b.observation, b.extras["noise"])
        x = torch.cat([b.observation, action], 1)
        value = torch.minimum(*[self.forward(q, x)[:, 0] for q in self.q])
        self.step("pi", weights, (self.log_alpha.exp() * log_prob - value).mean())
        loss = -(self.log_alpha.requires_grad_() * (log_prob.detach() + wanted)).mean()
        self.step("alpha", [self.log_alpha], loss)
        for q, target in zip(self.q, self.target, strict=True):
            for one, other in zip(q, target, strict=True):
                for source, moved in zip(one, other, strict=True):
                    moved.mul_(1 - tau).add_(source, alpha=tau)
        return torch.stack([e.detach().abs() for e in errors]).mean(0)


def test_updates_equal_the_papers_algorithm_written_out(rlk_make):
    agent = rlk_make(
        "sac", env=MATCH, seed=0, ent_coef="auto_0.2", learning_rate=0.01, tau=0.1, gamma=0.9,
        batch_size=16, learning_starts=40, policy={"layers": [7, 6]},
    )  # fmt: skip
    agent.learn(39)
    algorithm, run = agent.run.algorithm, agent.run
    written = WrittenOut(agent, 0.01, 0.2)
    weight = torch.linspace(0.2, 1.8, 16)
    for _ in range(4):
        batch = batch_of(agent, 16)
        batch = dataclasses.replace(batch, weight=weight)
        update = algorithm.update(batch, run.optimise)
        expected = written.update(batch, 0.1, -2.0)
        assert torch.allclose(update.td_error, expected, atol=1e-4)
    assert float(algorithm.alpha.value()) == pytest.approx(float(written.log_alpha.exp()), abs=1e-5)
    critic, target = run.policy.qf, algorithm.target.module.qf
    for module, stacks in ((critic, written.q), (target, written.target)):
        for c, stack in enumerate(stacks):
            for (weight_, _), found in zip(stack[:-1], module.trunk.weights, strict=True):
                assert torch.allclose(found[c], weight_, atol=1e-4)
            assert torch.allclose(module.weight[c, 0], stack[-1][0][:, 0], atol=1e-4)
            assert torch.allclose(module.bias[c], stack[-1][1], atol=1e-4)
    assert torch.allclose(run.policy.pi.out.weight, written.pi[-1][0], atol=1e-4)
    for layer, (expected, _) in zip(run.policy.pi.trunk.layers, written.pi, strict=False):
        assert torch.allclose(layer.weight, expected, atol=1e-4)


# ---- the three groups ----------------------------------------------------------------------------


def agent_with_batch(rlk_make, **settings):
    agent = rlk_make("sac", env=MATCH, seed=0, **{**SMALL, **settings})
    agent.learn(49)
    return agent, batch_of(agent, 32)


def critics_of(agent):
    """The critics' own parameters, flat."""
    return agent.run.optimise.groups["critic"].flat


def test_later_losses_see_the_steps_of_the_earlier_groups(rlk_make):
    agent, batch = agent_with_batch(rlk_make)
    run, seen = agent.run, []

    def watched(group, loss_fn, *args):
        before = {name: g.flat.clone() for name, g in run.optimise.groups.items()}
        seen.append((group, before))
        return run.optimise(group, loss_fn, *args)

    run.algorithm.update(batch, watched)
    assert [group for group, _ in seen] == ["critic", "actor", "entropy"]
    first, second, third = (before for _, before in seen)
    assert not first["critic"].equal(second["critic"]) and first["actor"].equal(second["actor"])
    assert second["critic"].equal(third["critic"]) and not second["actor"].equal(third["actor"])
    assert first["entropy"].equal(third["entropy"])
    assert not third["entropy"].equal(run.optimise.groups["entropy"].flat)


def test_the_target_takes_no_gradient_and_the_critics_are_in_nobody_elses_group(rlk_make):
    agent, batch = agent_with_batch(rlk_make)
    algorithm, run = agent.run.algorithm, agent.run
    assert not algorithm.soft_target(batch).requires_grad
    assert not any(p.requires_grad for p in algorithm.target.module.parameters())
    sizes = {name: g.flat.numel() for name, g in run.optimise.groups.items()}
    assert sizes["critic"] + sizes["actor"] == run.parameters.flat.numel()
    assert sizes["entropy"] == 1


def test_the_target_of_a_shared_encoder_is_its_own(rlk_make):
    agent, batch = agent_with_batch(rlk_make, policy={"net_arch": [8, {"pi": [4], "qf": [4]}]})
    algorithm = agent.run.algorithm
    before = algorithm.soft_target(batch)
    for parameter in algorithm.target.module.shared.parameters():
        parameter.mul_(0.5)
    assert not algorithm.soft_target(batch).equal(before)


def test_its_batches_have_separate_noise_for_both_actions_and_some_move_the_target(rlk_make):
    agent, _ = agent_with_batch(rlk_make, gradient_steps=7, target_update_interval=3)
    run, keys = agent.run, []
    run.clock.timesteps = 50
    for batch in run.algorithm.batches(run.storage):
        keys.append(batch.key)
        run.clock.updates += 1
        assert not batch.extras["noise"].equal(batch.extras["next_noise"])
    assert [key == MOVES_TARGET for key in keys] == [True, False, False, True, False, False, True]


class CountsProducts(TorchDispatchMode):
    """Counts batched products, of which only the critics have any."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func in (torch.ops.aten.bmm.default, torch.ops.aten.baddbmm.default)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("group", "products"),
    # Two layers forward each; backward, the actor needs what both hand on to the action, the
    # critics both weights and what the second hands on to the first.
    [("actor", 2 + 2), ("critic", 2 + 3)],
)
def test_the_actors_gradient_computes_none_of_the_critics_weights(rlk_make, group, products):
    agent, batch = agent_with_batch(rlk_make, policy={"layers": [32, 32]})
    run, algorithm = agent.run, agent.run.algorithm
    target = algorithm.soft_target(batch)
    with CountsProducts() as counted:
        if group == "actor":
            run.optimise("actor", algorithm.actor_loss, batch)
        else:
            run.optimise("critic", algorithm.critic_loss, batch, target)
    assert counted.count == products


def test_the_target_begins_as_a_copy_and_moves_by_tau(rlk_make):
    agent, batch = agent_with_batch(rlk_make, tau=0.25)
    algorithm, run = agent.run.algorithm, agent.run
    before = algorithm.target.flat.clone()
    assert before.equal(critics_of(agent))
    assert algorithm.target.flat.data_ptr() != critics_of(agent).data_ptr()
    algorithm.update(batch, run.optimise)
    expected = 0.75 * before + 0.25 * critics_of(agent)
    assert torch.allclose(algorithm.target.flat, expected, atol=1e-6)
    kept = algorithm.target.flat.clone()
    algorithm.update(dataclasses.replace(batch, key=""), run.optimise)
    assert kept.equal(algorithm.target.flat)


def test_a_state_stays_as_it_was_while_learning_goes_on(rlk_make):
    agent, batch = agent_with_batch(rlk_make)
    state = agent.run.algorithm.state_dict()
    before = state["log_ent_coef"].clone()
    agent.run.algorithm.update(batch, agent.run.optimise)
    assert state["log_ent_coef"].equal(before)
    assert not agent.run.algorithm.state_dict()["log_ent_coef"].equal(before)


@pytest.mark.parametrize("bad", ["reward", "noise"])
def test_a_step_that_is_not_finite_is_taken_by_no_group(rlk_make, bad):
    agent, batch = agent_with_batch(rlk_make)
    run = agent.run
    if bad == "reward":
        batch = dataclasses.replace(batch, reward=batch.reward * math.inf)
    else:
        noise = torch.full_like(batch.extras["noise"], math.nan)
        batch = dataclasses.replace(batch, extras={**batch.extras, "noise": noise})
    before = {name: g.flat.clone() for name, g in run.optimise.groups.items()}
    update = run.algorithm.update(batch, run.optimise)
    kept = {name for name, g in run.optimise.groups.items() if g.flat.equal(before[name])}
    assert kept == ({"critic"} if bad == "reward" else {"actor", "entropy"})
    assert not all(bool(torch.isfinite(value)) for value in update.metrics.values())


def test_metrics_are_those_that_people_look_for(rlk_make):
    agent, batch = agent_with_batch(rlk_make)
    policy, noise = agent.run.policy, batch.extras["noise"]
    parameters = policy.pi(policy.encode(batch.observation)).detach()
    _, log_prob = agent.run.distribution.sample_with_log_prob(parameters, noise)
    update = agent.run.algorithm.update(batch, agent.run.optimise)
    assert float(update.metrics["actor_entropy"]) == pytest.approx(-float(log_prob.mean()))
    names = {"actor_loss", "critic_loss", "ent_coef", "ent_coef_loss", "actor_entropy"}
    assert names <= set(update.metrics)
