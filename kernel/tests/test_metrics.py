from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk.errors import BrokenPlugin, PlanError
from rlk.running.clock import Clock
from rlk.running.metrics import EPISODE_WINDOW, Metrics
from rlk.running.rows import as_numbers


@pytest.fixture
def metrics():
    return Metrics(Clock(100))


def push(metrics, **values):
    metrics.push({name: torch.tensor(value) for name, value in values.items()})


def test_the_last_hundred_episodes_are_kept_and_come_back(metrics):
    metrics.recent_episodes.extend((float(number), number) for number in range(EPISODE_WINDOW + 5))
    other = Metrics(Clock(100))
    other.recent_episodes.append((7.0, 7))
    other.load_state_dict(metrics.state_dict())
    for one in (metrics, other):
        assert len(one.recent_episodes) == EPISODE_WINDOW
        assert one.recent_episodes[0] == (5.0, 5)


def test_episodes_that_come_back_replace_those_that_were_there(metrics):
    metrics.episode_ended(1.0, 2)
    other = Metrics(Clock(100))
    other.episode_ended(7.0, 7)
    other.load_state_dict(metrics.state_dict())
    assert [*other.recent_episodes] == [(1.0, 2)]


def test_a_row_has_the_mean_over_the_updates_since_the_last(metrics):
    push(metrics, loss=1.0, extra=5.0)
    push(metrics, loss=3.0)
    row = metrics.take_row()
    assert row["train/loss"] == 2.0 and row["train/extra"] == 5.0
    push(metrics, loss=7.0)
    assert metrics.take_row()["train/loss"] == 7.0


def test_whoever_follows_has_means_of_their_own(metrics):
    with metrics.followed() as means:
        push(metrics, loss=1.0)
        metrics.read()
        assert means.take() == {"loss": 1.0} and not means
        push(metrics, loss=4.0)
        metrics.read()
        assert metrics.take_row()["train/loss"] == 2.5 and means
        assert means.take() == {"loss": 4.0}
    push(metrics, loss=9.0)
    metrics.read()
    assert not means


def test_a_row_without_updates_has_no_losses(metrics):
    assert not any(tag.startswith("train/") for tag in metrics.take_row())


def test_figures_that_were_set_are_in_the_next_row_alone(metrics):
    metrics.set("eval/mean_reward", 7)
    assert metrics.take_row()["eval/mean_reward"] == 7.0
    assert "eval/mean_reward" not in metrics.take_row()


def test_of_figures_that_were_added_the_next_row_has_the_mean(metrics):
    for value in (1.0, 2.0, 6.0):
        metrics.add("rollout/bonus", value)
    assert metrics.has_news()
    saved = metrics.state_dict()
    assert metrics.take_row() == {"rollout/bonus": 3.0} and metrics.take_row() == {}
    metrics.load_state_dict(saved)
    metrics.add("rollout/bonus", 7.0)
    assert metrics.take_row() == {"rollout/bonus": 4.0}
    with pytest.raises(BrokenPlugin, match=r"metrics\.add"):
        metrics.add("rollout/bonus", "much")


def test_a_figure_that_was_set_is_news_though_no_step_was_taken(metrics):
    assert not metrics.has_news()
    metrics.set("eval/mean_reward", 7)
    assert metrics.has_news()
    metrics.take_row()
    assert not metrics.has_news()


def test_nothing_is_read_while_updates_are_made(metrics):
    class Unread:
        def __float__(self):
            raise AssertionError("read")

        item = __float__

    metrics.push({"loss": Unread()})
    with pytest.raises(AssertionError, match="read"):
        metrics.read()


def test_tensors_of_finished_updates_do_not_pile_up(metrics):
    for i in range(1, 2001):
        push(metrics, loss=float(i))
        if i % 100 == 0:
            assert metrics.read() is None and metrics._unread == []
    assert metrics.take_row()["train/loss"] == 1000.5


def test_the_oldest_figure_that_is_not_finite_is_named(metrics):
    metrics._clock.updates, metrics._clock.timesteps = 7, 40
    push(metrics, loss=1.0)
    push(metrics, loss=2.0, other=float("inf"))
    push(metrics, loss=float("nan"))
    assert metrics.read() == "'other' is inf in update 6 at timestep 40"


def test_figures_that_were_looked_at_are_not_looked_at_again(metrics):
    push(metrics, loss=1.0)
    assert metrics.read() is None
    metrics._clock.updates = 2
    push(metrics, grad_norm=float("nan"))
    assert metrics.read().startswith("the gradient's norm is nan in update 2 ")
    push(metrics, grad_norm_critic=float("nan"))
    assert metrics.read().startswith("the gradient's norm of group 'critic' is nan in update 2 ")


def test_a_row_is_the_same_with_a_checkpoint_before_it():
    def rows(saves):
        first = Metrics(Clock(100))
        for loss in (0.1, 0.2, 0.7):
            push(first, loss=loss)
        first.set("eval/mean_reward", 3.0)
        other = Metrics(Clock(100))
        other.load_state_dict(first.state_dict())
        one = other if saves else first
        push(one, loss=0.4)
        return one.take_row()

    assert rows(saves=True) == rows(saves=False)
    assert rows(saves=True)["eval/mean_reward"] == 3.0


def test_whoever_listens_is_told_of_every_episode(metrics):
    told = []
    metrics.episode_listeners.append(lambda *episode: told.append(episode))
    metrics.episode_ended(2.0, 3)
    metrics.episode_ended(1.0, 4, 0.5)
    assert told == [(2.0, 3, None), (1.0, 4, 0.5)]


def test_an_algorithm_may_average_over_another_number_of_episodes():
    metrics = Metrics(Clock(0))
    for number in range(9):
        metrics.episode_ended(float(number), number, number / 10)
    metrics.average_over(3)
    assert [length for _, length in metrics.recent_episodes] == [6, 7, 8]
    metrics.episode_ended(9.0, 9, 0.9)
    assert [length for _, length in metrics.recent_episodes] == [7, 8, 9]
    assert list(metrics.recent_successes) == [0.7, 0.8, 0.9]
    other = Metrics(Clock(0))
    other.average_over(2)
    other.load_state_dict(metrics.state_dict())
    assert [length for _, length in other.recent_episodes] == [8, 9]
    with pytest.raises(PlanError, match="at least 1 of the latest episodes, got 0"):
        other.average_over(0)


# ---- not a number ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.5, None, "low", torch.ones(2), np.ones(2)])
def test_a_metric_that_is_not_a_tensor_of_one_number_is_named(value):
    metrics = Metrics(Clock(100), "algorithm 'mine' (acme 1.0)")
    metrics._clock.updates = 1
    metrics.push({"loss": torch.tensor(1.0), "odd": value})
    with pytest.raises(BrokenPlugin, match=r"^algorithm 'mine' .*: metric 'odd' of update 1 is "):
        metrics.read()


def test_what_the_device_says_of_a_number_is_not_taken_for_a_wrong_one(metrics):
    class Lost:
        ndim = 0

        def item(self):
            raise RuntimeError("the device is lost")

    metrics.push({"loss": Lost()})
    with pytest.raises(RuntimeError, match="the device is lost"):
        metrics.read()


def test_single_numbers_of_any_library_are_logged_as_pythons():
    given = {"a": 1, "b": np.float32(0.5), "c": torch.tensor(2), "d": np.array(3.0), "e": True}
    row = as_numbers(given, "I")
    assert row == {"a": 1, "b": 0.5, "c": 2, "d": 3.0, "e": True}
    assert {type(value) for value in row.values()} == {int, float, bool}


@pytest.mark.parametrize(
    "given", [None, {"a": "b"}, {"a": None}, {"a": [1.0]}, {"a": np.ones(1)}, {1: 1.0}, {"a": 1j}]
)
def test_what_is_no_number_by_a_text_is_refused_with_who_gave_it(given):
    with pytest.raises(BrokenPlugin, match=r"^plugin 'mine' gave .* to log"):
        as_numbers(given, "plugin 'mine'")


def test_a_number_that_is_set_is_one(metrics):
    metrics.set("eval/success", np.float32(0.5))
    with pytest.raises(BrokenPlugin, match=r"metrics\.set gave 'high' to log as 'eval/success'"):
        metrics.set("eval/success", "high")
    assert metrics.take_row()["eval/success"] == 0.5


@pytest.mark.parametrize("found", [None, 0.5, [("loss", torch.ones(()))]])
def test_an_update_without_a_dict_of_metrics_is_the_algorithms_fault(found):
    metrics = Metrics(Clock(100), "algorithm 'mine' (acme 1.0)")
    metrics._clock.updates = 1
    metrics.push(found)
    with pytest.raises(BrokenPlugin) as caught:
        metrics.read()
    assert str(caught.value).startswith("algorithm 'mine' (acme 1.0): update 1 returned Update(")
    assert str(caught.value).endswith("{} where there is nothing to log.")


def test_a_metric_that_is_not_finite_is_told_though_somebody_saved_meanwhile(metrics):
    push(metrics, loss=float("nan"))
    metrics.state_dict()
    push(metrics, loss=float("inf"))
    metrics.take_row()
    assert "'loss' is nan" in metrics.read()
    assert metrics.read() is None
