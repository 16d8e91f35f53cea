from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk_lstm.layout import first_fit_decreasing, layout


def starts(steps, *at):
    """bool [T, N]: where the episodes of each environment start."""
    found = torch.zeros(steps, len(at), dtype=torch.bool)
    for env, times in enumerate(at):
        found[list(times), env] = True
    return found


def test_one_sequence_of_three_episodes_becomes_three_rows():
    plan = layout(starts(8, (3, 6)))
    assert (plan.length, plan.width) == (3, 3)
    # The first part leads row 0; the others are as long as it or shorter, each in a row.
    assert plan.places.view(8).tolist() == [0, 3, 6, 1, 4, 7, 2, 5]


def test_parts_share_a_row_with_a_step_between_them():
    plan = layout(starts(9, (5, 7)))
    assert (plan.length, plan.width) == (5, 2)
    # 5 steps in row 0; 2 and 2 in row 1, at 0 and at 3.
    assert plan.places.tolist() == [0, 2, 4, 6, 8, 1, 3, 7, 9]


def test_a_late_start_leaves_sequences_as_they_are_but_for_a_step():
    plan = layout(starts(8, (7,), ()))
    assert (plan.length, plan.width) == (9, 2)
    first, second = plan.places.view(8, 2).T.tolist()
    assert first == [0, 2, 4, 6, 8, 10, 12, 16] and second == [1, 3, 5, 7, 9, 11, 13, 15]


def test_spreading_and_gathering_are_inverse_and_fill_the_rest():
    plan = layout(starts(9, (5, 7)))
    x = torch.arange(1.0, 10.0)[:, None]
    spread = plan.spread(x, torch.tensor([-1.0]))
    assert spread[..., 0].T.tolist() == [[1, 2, 3, 4, 5], [6, 7, -1, 8, 9]]
    assert torch.equal(plan.gather(spread), x)
    assert plan.states(torch.tensor([[7.0, 8.0]])).tolist() == [[7.0, 8.0], [0.0, 0.0]]


@pytest.mark.parametrize("chance", [0.01, 0.03, 0.1, 0.3, 0.8])
@pytest.mark.parametrize("n_envs", [1, 2, 8])
def test_every_part_keeps_its_order_in_one_row_after_its_state_or_after_zeros(chance, n_envs):
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = torch.from_numpy(rng.random((40, n_envs)) < chance)
        plan = layout(start)
        time, row = np.divmod(plan.places.view(40, n_envs).numpy(), plan.width)
        assert len(set(plan.places.tolist())) == 40 * n_envs
        assert time.max() < plan.length
        filled = np.zeros((plan.length, plan.width), bool)
        filled[time, row] = True
        for env in range(n_envs):
            assert (time[0, env], row[0, env]) == (0, env), "the first part leads its own row"
            for t in range(1, 40):
                place = time[t, env], row[t, env]
                if not start[t, env]:
                    assert place == (time[t - 1, env] + 1, row[t - 1, env])
                elif place[0] == 0:
                    assert place[1] >= n_envs
                else:
                    assert not filled[place[0] - 1, place[1]]


def test_a_layout_is_never_longer_than_sequences_with_a_step_between_episodes():
    rng = np.random.default_rng(1)
    for _ in range(50):
        start = torch.from_numpy(rng.random((30, 2)) < 0.2)
        most = int(start[1:].sum(0).max())
        plan = layout(start)
        assert plan.length * (plan.width + 2) <= (30 + most) * 4


def test_the_longest_parts_find_their_places_first():
    size = np.array([4, 1, 2, 5, 1])
    row, offset, used = first_fit_decreasing(size, np.array([True, False, False, False, False]))
    # Row 0 holds 4 of 5: no room for a step and another. 5 fills row 1; 2 opens row 2 and takes 1.
    assert row.tolist() == [0, 2, 2, 1, 3] and offset.tolist() == [0, 3, 0, 0, 0] and used == 4
