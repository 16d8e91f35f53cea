from __future__ import annotations

import dataclasses
import math

import attrs
import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

import rlk
from rlk.errors import PlanError
from rlk.testing import AlgorithmContract, mean_return
from rlk_networks import FlatParameters
from rlk_sac import SACConfig
from rlk_sac.algorithm import MOVES_TARGET

MATCH = "rlk.testing.environments:BoxMatch"
SMALL = {"learning_starts": 50, "batch_size": 32, "policy": {"layers": [32]}}


class TestSAC(AlgorithmContract):
    component = "sac"


class TestSACWithPrioritiesNoiseAndAFixedEntropy(AlgorithmContract):
    component = "sac"
    settings = {
        "ent_coef": 0.05,
        "random_exploration": 0.1,
        "target_update_interval": 3,
        "gradient_steps": 2,
        "action_noise": "ornstein-uhlenbeck-noise:sigma=0.3,dt=0.5",
    }

    def agent(self, **said):
        joined = ["prioritized-replay", *said.pop("plugins", [])]
        return super().agent(**said, plugins=joined)


# ---- hyperparameters -----------------------------------------------------------------------------


def test_names_and_defaults_are_those_of_stable_baselines():
    assert attrs.asdict(SACConfig()) == {
        "gamma": 0.99,
        "learning_rate": 0.0003,
        "buffer_size": 50_000,
        "learning_starts": 100,
        "train_freq": 1,
        "batch_size": 64,
        "tau": 0.005,
        "ent_coef": "auto",
        "target_update_interval": 1,
        "gradient_steps": 1,
        "target_entropy": "auto",
        "action_noise": None,
        "random_exploration": 0.0,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.5},
        {"learning_rate": "lin"},
        {"buffer_size": 0},
        {"train_freq": 0},
        {"tau": -0.1},
        {"ent_coef": "automatic"},
        {"ent_coef": "auto_0"},
        {"ent_coef": "auto_x"},
        {"ent_coef": -0.1},
        {"ent_coef": math.nan},
        {"target_update_interval": 0},
        {"gradient_steps": 0},
        {"gradient_steps": -2},
        {"target_entropy": "automatic"},
        {"target_entropy": math.inf},
        {"random_exploration": 1.1},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SACConfig(**wrong)


@pytest.mark.parametrize(
    ("said", "learnt", "initial"),
    [("auto", True, 1.0), ("auto_0.1", True, 0.1), (0.2, False, 0.2), (0, False, 0.0)],
)
def test_the_entropys_weight_is_learnt_from_a_value_on_or_fixed(rlk_make, said, learnt, initial):
    agent = rlk_make("sac", env=MATCH, seed=0, ent_coef=said, **SMALL)
    algorithm = agent.run.algorithm
    assert float(algorithm.ent_coef()) == pytest.approx(initial)
    assert ("entropy" in agent.run.optimise.groups) == learnt
    agent.learn(100)
    assert (float(algorithm.ent_coef()) != pytest.approx(initial)) == learnt


def test_the_wanted_entropy_is_minus_the_number_of_actions_unless_said(rlk_make):
    assert rlk_make("sac", env=MATCH).run.algorithm.target_entropy == -2.0
    assert rlk_make("sac", env=MATCH, target_entropy=-0.5).run.algorithm.target_entropy == -0.5


def test_its_buffer_size_reaches_the_replay(rlk_make):
    agent = rlk_make("sac", env=MATCH, buffer_size=77)
    assert agent.plan.storages[0].config.buffer_size == 77


def test_a_buffer_that_never_holds_a_batch_is_refused(rlk_make):
    with pytest.raises(PlanError, match="would never learn"):
        rlk_make("sac", env=MATCH, buffer_size=64, batch_size=64, n_envs=3)
    assert rlk_make("sac", env=MATCH, buffer_size=66, batch_size=64, n_envs=3)


def test_another_distribution_is_refused_with_what_it_lacks(rlk_make):
    with pytest.raises(PlanError, match="DiagGaussian has none"):
        rlk_make("sac", env=MATCH, distribution="diag-gaussian")


def test_actions_that_can_be_counted_are_refused(rlk_make):
    with pytest.raises(PlanError, match="serves action spaces Box"):
        rlk_make("sac", env="CartPole-v1")


def test_bounds_that_are_infinite_are_refused(rlk_make):
    class Unbounded(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Box(-np.inf, np.inf, (2,))

    with pytest.raises(PlanError, match="a bound is infinite"):
        rlk_make("sac", env=Unbounded)


def test_its_settings_are_written_as_users_write_them(rlk_make):
    agent = rlk_make("sac", env=MATCH, action_noise="normal-noise:sigma=0.3")
    assert agent.plan.noise.name == "normal-noise" and agent.plan.noise.config.sigma == 0.3
    agent = rlk_make("sac", env=MATCH, plugins=["ornstein-uhlenbeck-noise:sigma=0.3"])
    assert agent.plan.noise.name == "ornstein-uhlenbeck-noise"
    assert rlk_make("sac", env=MATCH).plan.noise is None


# ---- when it learns ------------------------------------------------------------------------------


def updates_after(rlk_make, timesteps, **said):
    agent = rlk_make("sac", env=MATCH, seed=0, batch_size=8, policy={"layers": [8]}, **said)
    agent.learn(timesteps)
    return agent.run.clock.updates


def test_it_learns_from_the_timestep_on_that_learning_starts(rlk_make):
    assert updates_after(rlk_make, 59, learning_starts=60) == 0
    assert updates_after(rlk_make, 60, learning_starts=60) == 1


def test_it_waits_for_as_many_transitions_as_a_batch_has(rlk_make):
    assert updates_after(rlk_make, 7, learning_starts=0) == 0
    assert updates_after(rlk_make, 8, learning_starts=0) == 1


def test_it_learns_every_train_freq_vector_steps(rlk_make):
    assert updates_after(rlk_make, 100, learning_starts=60, train_freq=4) == 11


def test_gradient_steps_is_the_number_of_updates_each_time(rlk_make):
    assert updates_after(rlk_make, 100, learning_starts=60, train_freq=4, gradient_steps=3) == 33


def test_gradient_steps_of_minus_one_is_an_update_for_every_timestep(rlk_make):
    said = {"learning_starts": 60, "train_freq": 4, "gradient_steps": -1, "n_envs": 2}
    # A collection is 8 timesteps: 8 updates each at 64, 72, … 104, where the run ends.
    assert updates_after(rlk_make, 100, **said) == 6 * 8


@pytest.mark.parametrize("interval", [1, 3])
def test_the_target_moves_every_so_many_updates(rlk_make, interval):
    agent = rlk_make("sac", env=MATCH, seed=0, target_update_interval=interval, **SMALL)
    algorithm, moved = agent.run.algorithm, []
    update = agent.run.update

    def watched(batch, optimise):
        before = algorithm._target_flat.clone()
        made = update(batch, optimise)
        moved.append(not before.equal(algorithm._target_flat))
        return made

    agent.run.update = watched
    agent.learn(57)
    assert moved == [i % interval == 0 for i in range(8)]


# ---- how it acts ---------------------------------------------------------------------------------


def acted(rlk_make, steps, **said):
    """Actions that were stored, [steps, N, 2], and what the environments got."""
    agent = rlk_make("sac", env=MATCH, seed=0, batch_size=8, policy={"layers": [8]}, **said)
    act, found = agent.run.actor.act, []

    class Watches:
        metrics, start = agent.run.actor.metrics, agent.run.actor.start

        def act(self, *arguments):
            found.append(act(*arguments))
            return found[-1]

    agent.run.actor = Watches()
    agent.learn(steps)
    return np.stack([a.action for a in found]), np.stack([a.env_action for a in found])


def test_actions_are_uniform_over_the_bounds_until_learning_starts(rlk_make):
    stored, given = acted(rlk_make, 4000, learning_starts=4000, train_freq=1000, n_envs=4)
    stored, given = stored.reshape(-1, 2), given.reshape(-1, 2)
    # Uniform over -1 to 1: the mean of 4,000 is within 0.05, the variance within 3 % of 1/3.
    assert np.abs(stored.mean(0)).max() < 0.05
    assert stored.var(0) == pytest.approx([1 / 3, 1 / 3], rel=0.05)
    assert abs(np.corrcoef(stored.T)[0, 1]) < 0.08
    assert np.allclose(given, [0.5, 0.25] + stored * [1.5, 0.25], atol=1e-6)


def test_the_policy_acts_from_then_on(rlk_make):
    agent = rlk_make("sac", env=MATCH, seed=0, learning_starts=20)
    with torch.no_grad():
        agent.run.policy.pi.out.weight.zero_()
        agent.run.policy.pi.out.bias.copy_(torch.tensor([3.0, -3.0, -20.0, -20.0]))
    act, x, start = agent.run.actor.act, np.zeros((1, 2), np.float32), np.zeros(1, bool)
    for timesteps, random in ((0, True), (19, True), (20, False), (500, False)):
        agent.run.clock.timesteps = timesteps
        found = act(x, None, start).action[0]
        assert np.allclose(found, np.tanh([3.0, -3.0]), atol=1e-4) != random


def test_random_exploration_is_the_probability_of_a_random_action(rlk_make):
    class Still:
        """Chooses 5, which no random action is; counts how often it is asked."""

        asked = 0

        def start(self, n_envs):
            return None

        def metrics(self):
            return {}

        def act(self, observation, carry, episode_start, deterministic=False):
            self.asked += 1
            action = np.full((len(episode_start), 2), 5.0, np.float32)
            return rlk.records.Act(action, action, carry, {})

    agent = rlk_make("sac", env=MATCH, seed=0, learning_starts=0, random_exploration=0.3, n_envs=8)
    actor = agent.run.algorithm.explore(Still())
    acts = [actor.act(None, None, np.zeros(8, bool)) for _ in range(500)]
    random = np.stack([act.action for act in acts]) != 5.0
    assert np.array_equal(random[..., 0], random[..., 1])
    # Binomial with n = 4,000 and p = 0.3: five standard deviations are 145.
    assert abs(random[..., 0].sum() - 1200) < 145
    kept = actor.act(None, None, np.zeros(8, bool), deterministic=True)
    assert (kept.action == 5.0).all()


def test_what_the_inner_actor_carries_lives_on_through_random_actions(rlk_make):
    said = {"action_noise": "ornstein-uhlenbeck-noise:sigma=0.5", "learning_starts": 1000}
    agent = rlk_make("sac", env=MATCH, seed=0, n_envs=2, **said)
    actor = agent.run.actor
    carry = actor.start(2)
    found = actor.act(np.zeros((2, 2), np.float32), carry, np.zeros(2, bool))
    assert found.carry["noise"].any() and not carry["noise"].any()


def test_noise_is_added_where_actions_go_from_minus_one_to_one(rlk_make):
    stored, given = acted(
        rlk_make, 50, learning_starts=0, action_noise="normal-noise:mean=[2.0,-2.0],sigma=0"
    )
    assert (stored == [1.0, -1.0]).all() and (given == [2.0, 0.0]).all()


def test_predicting_neither_explores_nor_adds_noise(rlk_make):
    agent = rlk_make("sac", env=MATCH, seed=0, action_noise="normal-noise:mean=2.0", **SMALL)
    actor = agent.run.algorithm.actor(np.random.default_rng(0))
    x = np.zeros((4, 2), np.float32)
    parameters = agent.run.policy(torch.zeros(4, 2), "pi")[0].detach()
    found = actor.act(x, None, np.zeros(4, bool), True).action
    assert np.allclose(found, torch.tanh(parameters[:, :2]).numpy(), atol=1e-6)
    action, _ = agent.predict(x, deterministic=True)
    assert np.allclose(action, [0.5, 0.25] + found * [1.5, 0.25], atol=1e-6)


@pytest.mark.parametrize("layers", [[16], [600, 400]], ids=["numpy", "torch"])
def test_acting_is_the_formula_on_its_network(rlk_make, layers):
    agent = rlk_make("sac", env=MATCH, seed=0, policy={"layers": layers})
    actor = agent.run.algorithm.actor(np.random.default_rng(7))
    assert (actor._fast is None) == (layers == [600, 400])
    x = np.random.default_rng(1).normal(size=(5, 2)).astype(np.float32)
    found = actor.act(x, None, np.zeros(5, bool)).action
    noise = np.random.default_rng(7).standard_normal((5, 2), dtype=np.float32)
    parameters = agent.run.policy(torch.from_numpy(x), "pi")[0].detach().numpy()
    expected = np.tanh(parameters[:, :2] + np.exp(parameters[:, 2:]) * noise)
    assert np.allclose(found, expected, atol=1e-5)


# ---- an update, against one written out ----------------------------------------------------------


def adam(flat, gradient, state, rate):
    """One step of Adam as its paper has it, in place."""
    count, mean, square = state.setdefault("s", [0, torch.zeros_like(flat), torch.zeros_like(flat)])
    state["s"][0] = count = count + 1
    mean.mul_(0.9).add_(gradient, alpha=0.1)
    square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    step = (mean / (1 - 0.9**count)) / ((square / (1 - 0.999**count)).sqrt() + 1e-8)
    flat.sub_(rate * step)


class Twin:
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
    algorithm, storage, run = agent.run.algorithm, agent.run.storage, agent.run
    twin = Twin(agent, 0.01, 0.2)
    weight = torch.linspace(0.2, 1.8, 16)
    for _ in range(4):
        batch = algorithm._with_noise(storage.sample(16), MOVES_TARGET)
        batch = dataclasses.replace(batch, weight=weight)
        update = algorithm.update(batch, run.optimise)
        expected = twin.update(batch, 0.1, -2.0)
        assert torch.allclose(update.td_error, expected, atol=1e-4)
    assert float(algorithm.ent_coef()) == pytest.approx(float(twin.log_alpha.exp()), abs=1e-5)
    critic, target = run.policy.qf, algorithm.target.module.qf
    for module, stacks in ((critic, twin.q), (target, twin.target)):
        for c, stack in enumerate(stacks):
            for (weight_, _), found in zip(stack[:-1], module.trunk.weights, strict=True):
                assert torch.allclose(found[c], weight_, atol=1e-4)
            assert torch.allclose(module.weight[c, 0], stack[-1][0][:, 0], atol=1e-4)
            assert torch.allclose(module.bias[c], stack[-1][1], atol=1e-4)
    assert torch.allclose(run.policy.pi.out.weight, twin.pi[-1][0], atol=1e-4)
    for layer, (expected, _) in zip(run.policy.pi.trunk.layers, twin.pi, strict=False):
        assert torch.allclose(layer.weight, expected, atol=1e-4)


@pytest.mark.parametrize("ent_coef", ["auto", 0.1])
def test_an_update_is_traced_into_one_graph_with_the_same_result(rlk_make, ent_coef):
    said = {"ent_coef": ent_coef, "learning_starts": 40, "batch_size": 16}
    agents = [rlk_make("sac", env=MATCH, seed=0, policy={"layers": [8]}, **said) for _ in "ab"]
    for agent in agents:
        agent.learn(39)
    eager, traced = (agent.run for agent in agents)
    compiled = torch.compile(traced.algorithm.update, fullgraph=True, backend="aot_eager")
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        for key in (MOVES_TARGET, "", MOVES_TARGET):
            updates = [
                update(run.algorithm._with_noise(run.storage.sample(16), key), run.optimise)
                for run, update in ((eager, eager.algorithm.update), (traced, compiled))
            ]
    assert torch.allclose(eager.parameters.flat, traced.parameters.flat, atol=1e-5)
    assert torch.allclose(eager.algorithm._target_flat, traced.algorithm._target_flat, atol=1e-6)
    assert torch.allclose(updates[0].td_error, updates[1].td_error, atol=1e-4)
    assert eager.algorithm.ent_coef().item() == pytest.approx(traced.algorithm.ent_coef().item())
    torch._dynamo.reset()


# ---- the three groups ----------------------------------------------------------------------------


def agent_with_batch(rlk_make, **said):
    agent = rlk_make("sac", env=MATCH, seed=0, **{**SMALL, **said})
    agent.learn(49)
    algorithm = agent.run.algorithm
    return agent, algorithm._with_noise(agent.run.storage.sample(32), MOVES_TARGET)


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


class CountsProducts(TorchDispatchMode):
    """Counts batched products, of which only the critics have any."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func in (torch.ops.aten.bmm.default, torch.ops.aten.baddbmm.default)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("group", "products"),
    # Two layers forward each; backward, the actor needs what both hand on to their inputs, the
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
    before = algorithm._target_flat.clone()
    assert before.equal(algorithm._critic_flat)
    assert algorithm._target_flat.data_ptr() != algorithm._critic_flat.data_ptr()
    algorithm.update(batch, run.optimise)
    expected = 0.75 * before + 0.25 * algorithm._critic_flat
    assert torch.allclose(algorithm._target_flat, expected, atol=1e-6)
    kept = algorithm._target_flat.clone()
    algorithm.update(dataclasses.replace(batch, key=""), run.optimise)
    assert kept.equal(algorithm._target_flat)


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
    update = agent.run.algorithm.update(batch, agent.run.optimise)
    names = {"actor_loss", "critic_loss", "ent_coef", "ent_coef_loss", "actor_entropy"}
    assert names <= set(update.metrics)


# ---- what it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_learns_actions_between_bounds_that_are_not_symmetric(rlk_make, seed):
    said = {"gamma": 0.0, "learning_rate": 0.01, "ent_coef": "auto_0.1", **SMALL}
    agent = rlk_make("sac", env=MATCH, seed=seed, **said)
    agent.learn(600)
    assert mean_return(agent, MATCH) >= 7.4  # of 8; actions at random have 5.3


@pytest.mark.parametrize("n_envs", [1, 4])
@pytest.mark.parametrize("vec_env", ["dummy", "subprocess"])
@pytest.mark.parametrize("storage", [[], ["prioritized-replay"]], ids=["uniform", "priorities"])
def test_it_learns_with_one_environment_and_several_on_any_replay(
    rlk_make, n_envs, vec_env, storage
):
    said = {"gamma": 0.5, "learning_rate": 0.01, "ent_coef": "auto_0.1", **SMALL}
    agent = rlk_make(
        "sac", env=MATCH, seed=0, n_envs=n_envs, vec_env=vec_env, plugins=storage,
        gradient_steps=-1, **said,
    )  # fmt: skip
    agent.learn(500)
    assert mean_return(agent, MATCH) >= 6.9


class Steady(gym.Env):
    """One state, reward 1 whatever is done; episodes of two steps that end or are cut off."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, ends=False):
        self.ends, self.steps = ends, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.ones(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        over = self.steps >= 2
        return np.ones(1, np.float32), 1.0, over and self.ends, over and not self.ends, {}


@pytest.mark.parametrize(("ends", "low", "high"), [(False, 1.9, 2.1), (True, 1.1, 1.8)])
def test_the_value_of_an_episode_that_is_cut_off_counts_what_would_have_come(
    rlk_make, ends, low, high
):
    """Reward 1 and gamma 0.5 for ever are worth 2; two steps alone 1 or 1.5, which look alike."""
    said = {"gamma": 0.5, "learning_rate": 0.01, "ent_coef": 0.0, "tau": 0.05, **SMALL}
    agent = rlk_make("sac", env=lambda: Steady(ends), seed=0, **said)
    agent.learn(600)
    q = agent.run.policy.qf(torch.ones(1, 1), torch.zeros(1, 1))
    assert low < float(q.detach().min()) < high


@pytest.mark.parametrize("wanted", [-2.5, 1.0])
def test_its_entropy_becomes_the_one_that_is_wanted(rlk_make, wanted):
    said = {"gamma": 0.0, "learning_rate": 0.01, "target_entropy": wanted, **SMALL}
    agent = rlk_make("sac", env=MATCH, seed=0, **said)
    agent.learn(900)
    batch = agent.run.algorithm._with_noise(agent.run.storage.sample(512), "")
    found = agent.run.algorithm.actor_loss(batch).metrics["entropy"].detach()
    assert float(found) == pytest.approx(wanted, abs=0.4)


# ---- other policies and spaces -------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["MlpPolicy", "LnMlpPolicy"])
@pytest.mark.parametrize("net_arch", [None, [16, {"pi": [8], "qf": [8]}]])
def test_it_trains_policies_with_layer_norm_and_shared_layers(rlk_make, policy, net_arch):
    agent = rlk_make(
        "sac", env=MATCH, seed=0, policy=policy, learning_starts=20, batch_size=16,
        **{"policy.net_arch": net_arch},
    )  # fmt: skip
    before = agent.run.parameters.flat.clone()
    agent.learn(40)
    assert not before.equal(agent.run.parameters.flat)
    agent.run.parameters.check()


def test_a_shared_encoder_is_trained_by_the_critics_alone(rlk_make):
    said = {"policy.net_arch": [16, {"pi": [8], "qf": [8]}], "learning_starts": 60}
    agent = rlk_make("sac", env=MATCH, seed=0, batch_size=16, **said)
    agent.learn(59)
    run = agent.run
    batch = run.algorithm._with_noise(run.storage.sample(16), MOVES_TARGET)
    shared = next(run.policy.shared.parameters())
    before = shared.detach().clone()
    run.optimise("actor", run.algorithm.actor_loss, batch)
    assert before.equal(shared)
    run.optimise("critic", run.algorithm.critic_loss, batch, run.algorithm.soft_target(batch))
    assert not before.equal(shared)


def test_it_learns_from_images(rlk_make):
    env = {"id": "rlk.testing.environments:Walk", "observation": "image", "continuous": True}
    agent = rlk_make("sac", env=env, seed=0, learning_starts=20, batch_size=8)
    before = agent.run.parameters.flat.clone()
    agent.learn(40)
    assert not before.equal(agent.run.parameters.flat)
    assert agent.run.storage.sample(2).observation.dtype == torch.uint8


def test_it_trains_the_nature_cnn(rlk_make):
    class Picture(gym.Env):
        observation_space = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)
        action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.np_random.integers(0, 256, (36, 36, 3), np.uint8), {}

        def step(self, action):
            return self.reset()[0], float(action.sum()), False, False, {}

    said = {"learning_starts": 8, "batch_size": 8, "train_freq": 4, "policy": "CnnPolicy"}
    agent = rlk_make("sac", env=Picture, seed=0, **said)
    before = agent.run.parameters.state_dict()
    agent.learn(16)
    after = agent.run.parameters.state_dict()
    assert not any(before[name].equal(after[name]) for name in before)
    assert agent.predict(np.zeros((36, 36, 3), np.uint8))[0].shape == (2,)


def test_actions_of_several_axes_are_stored_and_done_in_their_shape(rlk_make):
    class Board(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gym.spaces.Box(-1.0, 3.0, (2, 3), np.float32)

        def reset(self, *, seed=None, options=None):
            return np.zeros(2, np.float32), {}

        def step(self, action):
            assert action.shape == (2, 3) and self.action_space.contains(action)
            return np.zeros(2, np.float32), float(action.sum()), False, False, {}

    agent = rlk_make("sac", env=Board, seed=0, n_envs=2, action_noise="normal-noise", **SMALL)
    agent.learn(80)
    assert agent.run.storage.sample(4).action.shape == (4, 2, 3)
    assert agent.predict(np.zeros(2, np.float32))[0].shape == (2, 3)


# ---- going on from a file ------------------------------------------------------------------------


def everything(agent):
    """All that decides what comes next, but for what tells the time."""
    run = agent.run
    return {
        "parameters": run.parameters.flat.clone(),
        "algorithm": run.algorithm.state_dict(),
        "optimise": run.optimise.state_dict(),
        "storage": run.storage.state_dict(),
        "streams": run.streams.state_dict(),
        "collector": run.collector.state_dict(),
    }


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"action_noise": "normal-noise:sigma=0.3", "random_exploration": 0.2},
        {"action_noise": "ornstein-uhlenbeck-noise:sigma=0.3", "n_envs": 4, "gradient_steps": -1},
        {"plugins": ["prioritized-replay"], "target_update_interval": 3, "ent_coef": 0.1},
        {"vec_env": "subprocess", "n_envs": 2, "learning_rate": "lin_0.001"},
    ],
    ids=["plain", "noise", "process", "priorities", "subprocess"],
)
def test_a_resumed_run_equals_one_that_was_never_interrupted(rlk_make, tmp_path, said):
    from rlk.testing.contract import same

    said = {"env": "Pendulum-v1", "seed": 4, "total_timesteps": 500, **SMALL, **said}
    whole = rlk_make("sac", **said)
    whole.learn_until(260)
    path = whole.save_checkpoint(tmp_path / "half")
    whole.learn_until(500)
    resumed = rlk.load(path)
    assert resumed.differs == [] and resumed.num_timesteps == 260
    resumed.learn_until(500)
    one, other = everything(whole), everything(resumed)
    for name in one:
        assert same(one[name], other[name]), f"{name} differ"
    resumed.close()


def test_its_state_has_the_target_and_the_entropys_weight_of_the_model(rlk_make, tmp_path):
    agent = rlk_make("sac", env=MATCH, seed=0, **SMALL)
    agent.learn(100)
    loaded = rlk.load(agent.save(tmp_path / "model"), env=MATCH)
    assert loaded.run.algorithm.ent_coef().equal(agent.run.algorithm.ent_coef())
    assert loaded.run.algorithm._target_flat.equal(agent.run.algorithm._target_flat)
    assert isinstance(loaded.run.algorithm.entropy, FlatParameters)
    loaded.close()
