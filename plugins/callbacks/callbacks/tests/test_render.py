"""Training and evaluations in a window, and evaluations in another environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import rlk
from rlk.agent import Agent
from rlk.errors import PlanError
from rlk_callbacks.config import EvaluationConfig
from rlk_callbacks.evaluation import EvaluationCallback
from rlk_testing.environments import Result, Walk
from rlk_testing.stand_ins import stand_in_kernel

KERNEL = stand_in_kernel(discover=True)
DISPLAYS = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")


class Windowed(Walk):
    """An environment with a window: how many steps each of its kind has shown."""

    metadata = {"render_modes": ["human"], "render_fps": 30}
    shown: list[Windowed] = []

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__()
        self.render_mode = render_mode

    def step(self, action: Any) -> Result:
        if self.render_mode == "human":
            Windowed.shown.append(self)
        return super().step(action)


class Elsewhere(Walk):
    """Another environment of the same spaces, which records whether it was closed."""

    stepped = 0
    closed = False

    def step(self, action: Any) -> Result:
        self.stepped += 1
        return super().step(action)

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def display(monkeypatch: pytest.MonkeyPatch) -> None:
    """A display, and windows that have shown nothing yet."""
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(Windowed, "shown", [])


def made(*plugins: str, **settings: Any) -> Agent:
    keywords = {"env": Windowed, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    return rlk.make("stand-in", kernel=KERNEL, plugins=list(plugins), **keywords)


# ---- windows -------------------------------------------------------------------------------------


def test_training_is_shown_and_evaluations_are_not() -> None:
    with made("render", "evaluation:every=8") as agent:
        agent.learn(8)
        (training,) = agent.run.env.unwrapped.envs
        assert [one is training.unwrapped for one in Windowed.shown] == [True] * 8
        assert len(agent.run.hooks.get("evaluation")._history) == 1


def test_evaluations_are_shown_and_training_is_not() -> None:
    with made("evaluation:every=8,render=true,episodes=1") as agent:
        agent.learn(8)
        (training,) = agent.run.env.unwrapped.envs
        assert Windowed.shown and training.unwrapped not in Windowed.shown


def test_a_saved_model_opens_no_window_by_itself(tmp_path: Any) -> None:
    with made("render") as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path, kernel=KERNEL, env=Windowed) as loaded:
        assert loaded.plan.env.kwargs == {}
        assert loaded.run.env.unwrapped.envs[0].unwrapped.render_mode is None


def test_an_environment_that_was_passed_has_its_window_or_is_refused() -> None:
    with made("render", env=Windowed(render_mode="human")) as agent:
        agent.learn(4)
        assert len(Windowed.shown) == 4
    with pytest.raises(PlanError, match="make it with render_mode='human'"):
        made("render", env=Windowed())


@pytest.mark.parametrize("plugin", ["render", "evaluation:render=true"])
def test_without_a_display_a_window_is_refused_while_planning(
    plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(PlanError, match="no display to open a window on"):
        made(plugin)


# ---- another environment -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["object", "class", "vector"])
def test_evaluations_may_have_another_environment(form: str) -> None:
    env = Elsewhere()
    vector = gym.vector.SyncVectorEnv(
        [lambda: env], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
    )
    given = {"object": env, "class": lambda: env, "vector": vector}[form]
    with made("evaluation:every=8,episodes=2", **{"evaluation.env": given}) as agent:
        agent.learn(8)
        assert env.stepped > 0
    # An environment that was passed as an object stays open.
    assert env.closed == (form == "class")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"evaluation.env": "Pendulum-v1"}, "observation_space of environment 'Pendulum-v1' is"),
        ({"evaluation.env": "Nowhere-v0"}, "Nowhere-v0"),
        ({"evaluation.env": 7}, "env must be an id, a class"),
        ({"evaluation.env": Elsewhere(), "evaluation.n_envs": 2}, "Use n_envs=1"),
        ({"env": Windowed()}, r"no second one to evaluate in.*\(evaluation.env\)"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused_while_planning(
    settings: dict[str, Any], told: str
) -> None:
    with pytest.raises(PlanError, match=rf"(?s)callback 'evaluation': .*{told}"):
        made("evaluation", **settings)


def test_as_a_callback_of_one_call_it_is_refused_there_as_well() -> None:
    with made(env=Windowed()) as agent:
        with pytest.raises(PlanError, match="no second one"):
            agent.learn(8, callback=EvaluationCallback(EvaluationConfig(every=4)))
        assert agent.num_timesteps == 0
        elsewhere = EvaluationCallback(EvaluationConfig(every=4, env=Elsewhere))
        assert agent.learn(8, callback=elsewhere).num_timesteps == 8


def test_no_file_chooses_code_to_evaluate_in(tmp_path: Any) -> None:
    place = "rlk_testing.environments:Walk"
    with made("evaluation", **{"evaluation.env": place}) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path, kernel=KERNEL, env=Windowed, plugins=("evaluation",)) as loaded:
        (callback,) = loaded.plan.callbacks
        assert callback.config.env is None
