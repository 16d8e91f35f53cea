from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk_networks import unroll
from rlk_networks.packed_parts import pack


def starts(steps, *at):
    """bool [T, N]: where the episodes of each environment start."""
    found = torch.zeros(steps, len(at), dtype=torch.bool)
    for env, times in enumerate(at):
        found[list(times), env] = True
    return found


def test_parts_begin_together_the_longest_first():
    plan = pack(starts(8, (3, 6)))  # a a a b b b c c
    assert plan.widths == [3, 3, 2]
    assert plan.order.tolist() == [0, 3, 6, 1, 4, 7, 2, 5]
    assert plan.leading.tolist() == [0]
    plan = pack(starts(6, (2,), ()))  # steps 0 to 11: a b a b c b c b c b c b
    assert plan.widths == [3, 3, 2, 2, 1, 1]
    assert plan.order.tolist() == [1, 4, 0, 3, 6, 2, 5, 8, 7, 10, 9, 11]
    assert plan.leading.tolist() == [2, 0]


def test_sequences_that_nothing_interrupts_stay_as_they_are():
    plan = pack(starts(5, (0,), ()))
    assert plan.widths == [2] * 5 and plan.order.tolist() == list(range(10))
    state = torch.arange(6.0).view(2, 3)
    assert torch.equal(plan.states(state), state)


def test_parts_that_an_episode_starts_begin_with_zeros():
    plan = pack(starts(6, (2,), ()))
    states = plan.states(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert states.tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]


@pytest.mark.parametrize("chance", [0.01, 0.1, 0.3, 0.8])
@pytest.mark.parametrize("n_envs", [1, 2, 8])
def test_every_step_follows_the_one_before_it_in_the_same_row(chance, n_envs):
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = torch.from_numpy(rng.random((40, n_envs)) < chance)
        plan = pack(start)
        assert sorted(plan.order.tolist()) == list(range(40 * n_envs))
        assert plan.widths == sorted(plan.widths, reverse=True)
        place = {}
        for step, taken in enumerate(plan.order.split(plan.widths)):
            place |= {case: (step, row) for row, case in enumerate(taken.tolist())}
        for t, env in np.ndindex(40, n_envs):
            step, row = place[t * n_envs + env]
            if t == 0:
                assert (step, row) == (0, plan.leading[env])
            elif start[t, env]:
                assert step == 0 and row not in plan.leading
            else:
                assert (step - 1, row) == place[(t - 1) * n_envs + env]
        x = torch.from_numpy(rng.normal(size=(40 * n_envs, 3)))
        assert torch.equal(plan.joined(list(plan.split(x))), x)


def test_a_cell_is_unrolled_in_as_many_calls_as_the_longest_part_has_steps():
    calls = []

    def adds(x, state):
        calls.append(len(x))
        return x + state, x + state

    x = torch.tensor([[1.0], [10.0], [2.0], [20.0], [4.0], [40.0]])  # T = 3, N = 2
    start = starts(3, (2,), (0,))
    found = unroll(adds, x, torch.tensor([[0.5], [0.25]]), start)
    assert found[:, 0].tolist() == [1.5, 10.0, 3.5, 30.0, 4.0, 70.0]
    assert calls == [3, 2, 1]
