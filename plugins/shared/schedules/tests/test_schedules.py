from __future__ import annotations

import importlib
import importlib.metadata
import math
import subprocess
import sys

import attrs
import pytest

import rlk
from rlk_schedules import (
    Constant,
    DoubleLinearCon,
    DoubleMiddleDrop,
    Linear,
    MiddleDrop,
    Piecewise,
    PiecewiseSchedule,
    Schedule,
    as_schedule,
    is_curve_of,
    is_off,
    is_schedule,
    is_schedule_or_off,
    scaled,
)
from rlk_schedules.text import GROUP, SHAPES


def at(schedule, remaining):
    return schedule(remaining) if callable(schedule) else schedule


def test_a_linear_schedule_reaches_its_end_at_its_fraction():
    schedule = Linear(1.0, 0.2, fraction=0.5)
    found = [schedule(remaining) for remaining in (1.0, 0.75, 0.5, 0.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.2])


def test_a_linear_schedule_of_no_fraction_is_at_its_end_at_once():
    assert Linear(1.0, 0.25, fraction=0.0)(1.0) == 0.25


@pytest.mark.parametrize(
    ("value", "at_start", "halfway"),
    [
        (0.3, 0.3, 0.3),
        (1, 1.0, 1.0),
        ("0.3", 0.3, 0.3),
        ("1e-3", 0.001, 0.001),
        ("lin_0.001", 0.001, 0.0005),
        ("linear_2", 2.0, 1.0),
        ("constant_2", 2.0, 2.0),
        ("middle_drop_2", 2.0, 0.15),
        ("linear:initial=2,final=1", 2.0, 1.5),
        ("linear:initial=2,fraction=0.5", 2.0, 0.0),
        ("piecewise:endpoints=[[0, 3], [0.4, 1]],outside_value=7", 3.0, 7.0),
        ([[0, 4.0], [1, 0.0]], 4.0, 2.0),
        (lambda remaining: remaining**2, 1.0, 0.25),
        (Constant(4), 4.0, 4.0),
    ],
)
def test_what_a_user_may_write(value, at_start, halfway):
    schedule = as_schedule(value)
    assert (at(schedule, 1.0), at(schedule, 0.5)) == pytest.approx((at_start, halfway))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("lin", r"write a number, 'lin_0\.001'"),
        ("lin_", r"write a number, 'lin_0\.001'"),
        ("fast", r"write a number, 'lin_0\.001'"),
        ("liner_0.1", "no schedule 'liner'. Did you mean 'linear'"),
        ("lin_0.1_2", "no schedule 'lin_0.1'"),
        ("piecewise_0.1", "no single number describes a schedule 'piecewise'"),
        ("linear:initail=1", "the schedule 'linear': 'initail'. Did you mean 'initial'"),
        ("linear:initial=fast", "initial must be a number, got 'fast'"),
        ("linear:final=1", "initial"),
        ("linear:initial=1,final", "a setting is key=value"),
        ([[0, 1.0], [0.5, 0.1]], "from 0 to 0.5 of the run: add endpoints at 0 and 1, or"),
        ([[0, 1.0], [100_000, 0.1]], "parts of the run that are done, 0 to 1, got 0 to 100000"),
        ([[1, 1.0], [0, 0.1]], "in the order of time"),
        ([0.1], "endpoints must be"),
        ([], "in the order of time"),
        (True, "must be a number, 'lin_0.001'"),
        (None, "must be a number, 'lin_0.001'"),
        (PiecewiseSchedule([(0, 1)]), "which counts timesteps: rlk_schedules.Linear"),
    ],
)
def test_what_is_no_schedule_is_refused_with_what_to_write(value, message):
    with pytest.raises(ValueError, match=message):
        as_schedule(value)


@pytest.mark.parametrize("value", [0.3, 1, "0.3", "constant_0.3", Constant(0.3)])
def test_what_never_changes_stays_a_number(value):
    assert type(as_schedule(value)) is float


def test_its_own_shapes_have_entry_points_as_others_do():
    points = importlib.metadata.entry_points(group=GROUP)
    own = [point for point in points if point.dist.name == "rlk-schedules"]
    assert {point.name: point.load() for point in own} == SHAPES


def test_a_setting_is_refused_by_its_name():
    @attrs.frozen
    class Config:
        rate: float = attrs.field(validator=is_schedule)

    assert Config("lin_0.1").rate == "lin_0.1"
    with pytest.raises(ValueError, match="rate: 'fast' is not a schedule"):
        Config("fast")
    with pytest.raises(ValueError, match="rate: it must be a number"):
        Config(None)


@pytest.mark.parametrize(
    "value",
    [
        *(-0.01, math.nan, math.inf, "lin_-0.2", "constant_-1", [[0, 1.0], [1, -1.0]]),
        [[0, 1.0], [0.1, -5.0], [0.2, 1.0], [1, 0]],
        "piecewise:endpoints=[[0.01,1],[0.99,1]],outside_value=-1",
    ],
)
def test_a_value_below_zero_or_not_finite_is_refused(value):
    @attrs.frozen
    class Config:
        rate: float = attrs.field(validator=is_schedule)

    with pytest.raises(ValueError, match="rate must be a finite number of at least 0, and is"):
        Config(value)
    with pytest.raises(ValueError, match=r"0, and is inf$"):
        Config(math.inf)
    assert Config(0.0).rate == 0.0 and callable(Config(lambda remaining: -1.0).rate)


def test_a_negative_number_turns_off_what_can_be_turned_off():
    @attrs.frozen
    class Config:
        clip: float = attrs.field(validator=is_schedule_or_off)

    assert [is_off(Config(one).clip) for one in (-1, "-1", "constant_-1", 0, "lin_0.1")] == [
        *(True, True, True),
        *(False, False),
    ]
    for value in ("lin_-1", "much"):
        with pytest.raises(ValueError, match="clip"):
            Config(value)


def test_a_line_ends_within_the_run():
    with pytest.raises(ValueError, match="fraction is a part of the run, 0 to 1, got -1"):
        as_schedule("linear:initial=0.1,fraction=-1")


# ---- named curves --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "at_parts_done"),
    [
        # Typed from the documentation, at 0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.8 and 1 of the run.
        ("constant", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [1.0, 0.9, 0.75, 0.7, 0.5, 0.25, 0.2, 0.0]),
        ("middle_drop", [1.0, 0.9, 0.75, 0.075, 0.075, 0.075, 0.075, 0.075]),
        ("double_linear_con", [1.0, 0.8, 0.5, 0.4, 0.125, 0.125, 0.125, 0.125]),
        ("double_middle_drop", [1.0, 0.9, 0.75, 0.75, 0.75, 0.75, 0.125, 0.125]),
    ],
)
def test_named_curves_are_factors_on_a_value(name, at_parts_done):
    schedule = scaled(0.5, name)
    found = [at(schedule, 1.0 - done) for done in (0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.8, 1.0)]
    assert found == pytest.approx([0.5 * factor for factor in at_parts_done])


def test_a_constant_curve_leaves_a_value_as_it_is():
    assert scaled(0.5, "constant") == 0.5
    assert scaled("lin_0.5", "constant")(0.5) == 0.25


def test_a_schedule_is_not_scaled_by_another_curve():
    with pytest.raises(ValueError, match=r"linear_0\.5 is a schedule already"):
        scaled(Linear(0.5), "linear")


@attrs.frozen
class Scaled:
    learning_rate: object
    lr_schedule: str = attrs.field(default="linear", validator=is_curve_of("learning_rate"))


def test_the_name_of_a_curve_is_checked_beside_the_value_that_it_scales():
    assert Scaled(0.1).lr_schedule == "linear"
    assert Scaled(abs, "constant").learning_rate is abs
    with pytest.raises(ValueError, match="lr_schedule: there is no schedule 'midle_drop'"):
        Scaled(0.1, "midle_drop")
    with pytest.raises(ValueError, match="no single number describes a schedule 'piecewise'"):
        Scaled(0.1, "piecewise")
    with pytest.raises(ValueError, match="set lr_schedule=constant to use it as it is"):
        Scaled(Linear(0.1))


# ---- piecewise -----------------------------------------------------------------------------------


def test_in_a_run_its_times_are_the_part_that_is_done():
    schedule = Piecewise([(0.0, 1.0), (0.5, 0.2), (1.0, 0.1)])
    found = [schedule(remaining) for remaining in (1.0, 0.75, 0.5, 0.25, 0.0)]
    assert found == pytest.approx([1.0, 0.6, 0.2, 0.15, 0.1])


def test_one_endpoint_is_a_value_at_one_time():
    assert Piecewise([(0.5, 2.0)], outside_value=1.0)(0.5) == 2.0


@pytest.mark.parametrize("times", [(-0.5, 0.5), (0.5, 1.5)])
def test_times_that_no_run_has_are_refused(times):
    with pytest.raises(ValueError, match="are parts of the run that are done, 0 to 1"):
        Piecewise([(time, 1.0) for time in times], outside_value=1.0)


# ---- by timestep ---------------------------------------------------------------------------------


def test_a_piecewise_one_gives_its_values_at_its_times_and_lines_between_them():
    schedule = PiecewiseSchedule([(0, 1.0), (10, 3.0), (30, 2.0)])
    # A quarter of the way from 1 to 3, then a half and three quarters of that from 3 to 2.
    found = [schedule.value(time) for time in (0, 2.5, 10, 20, 25, 30)]
    assert found == pytest.approx([1.0, 1.5, 3.0, 2.5, 2.25, 2.0])


def test_another_interpolation_gets_both_values_and_how_far_it_is():
    seen = []

    def steps(left, right, alpha):
        seen.append((left, right, alpha))
        return left

    schedule = PiecewiseSchedule([(0, 5.0), (4, 7.0)], interpolation=steps)
    assert schedule.value(1) == 5.0 and schedule.value(4) == 7.0
    assert seen == [(5.0, 7.0, 0.25)]


def test_outside_its_endpoints_it_gives_the_outside_value():
    schedule = PiecewiseSchedule([(2, 1.0), (4, 3.0)], outside_value=9)
    assert [schedule.value(time) for time in (1.9, 2, 4, 4.1)] == [9.0, 1.0, 3.0, 9.0]


@pytest.mark.parametrize("time", [1, 5])
def test_without_an_outside_value_it_refuses_to_be_asked(time):
    with pytest.raises(AssertionError, match=f"from 2 to 4 and was asked for {time}"):
        PiecewiseSchedule([(2, 1.0), (4, 3.0)]).value(time)


def test_two_endpoints_at_one_time_are_a_jump():
    schedule = PiecewiseSchedule([(0, 0.0), (1, 1.0), (1, 5.0), (2, 6.0)])
    assert [schedule.value(time) for time in (0.5, 1, 1.5)] == [0.5, 5.0, 5.5]


@pytest.mark.parametrize("endpoints", [[], [(1, 0.0), (0, 1.0)]])
def test_endpoints_that_are_out_of_order_are_refused(endpoints):
    with pytest.raises(ValueError, match="in the order of time"):
        PiecewiseSchedule(endpoints)


# ---- in files ------------------------------------------------------------------------------------

WRITTEN = [
    (Constant(0.5), "constant_0.5"),
    (Linear(1e-5), "linear_1e-05"),
    (Linear(1.0, 0.1, fraction=0.5), "linear:initial=1.0,final=0.1,fraction=0.5"),
    (MiddleDrop(0.1), "middle_drop_0.1"),
    (DoubleLinearCon(0.1), "double_linear_con_0.1"),
    (DoubleMiddleDrop(0.1), "double_middle_drop_0.1"),
    (Piecewise([(0, 1), (1, 0.5)]), [[0.0, 1.0], [1.0, 0.5]]),
    (
        Piecewise([(0, 1), (0.5, 2)], outside_value=3),
        "piecewise:endpoints=[[0.0, 1.0], [0.5, 2.0]],outside_value=3.0",
    ),
]


@pytest.mark.parametrize(("schedule", "text"), WRITTEN)
def test_a_shape_is_written_as_a_user_would_type_it_and_read_again(schedule, text):
    assert schedule.as_setting() == text
    assert Schedule.from_setting(text) == schedule
    assert str(schedule) == str(text)


def test_an_interpolation_is_held_by_no_file():
    assert Piecewise([(0, 1), (1, 2)], interpolation=max).as_setting() is None


@pytest.fixture
def cosine(tmp_path, monkeypatch):
    """The shape `cosine` of another distribution that is installed."""
    (tmp_path / "acme_cosine.py").write_text(COSINE)
    info = tmp_path / "acme_cosine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-cosine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rlk_schedules]\ncosine = acme_cosine:Cosine\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("acme_cosine").Cosine
    del sys.modules["acme_cosine"]


COSINE = """
import math
from typing import ClassVar

import attrs
from rlk_schedules import Schedule


@attrs.frozen
class Cosine(Schedule):
    name: ClassVar[str] = "cosine"
    initial: float
    waves: int = 1

    def __call__(self, remaining):
        return self.initial * (1 - math.cos(self.waves * math.pi * remaining)) / 2
"""


def test_a_shape_of_another_distribution_is_typed_and_saved_as_ours_are(cosine, tmp_path):
    assert as_schedule("cosine_0.5")(0.5) == pytest.approx(0.25)
    assert scaled(0.5, "cosine") == cosine(0.5)
    settings = {"n_steps": 8, "learning_rate": cosine(0.1, waves=3), "policy.layers": [4]}
    with rlk.make("ppo2", **settings) as agent:
        path = agent.save(tmp_path / "model")
    with rlk.load(path) as loaded:
        assert loaded.plan.algorithm.config.learning_rate == cosine(0.1, waves=3)


def test_models_hold_schedules_and_learn_continues_with_them(tmp_path):
    rate = Piecewise([(0.0, 0.4), (0.5, 0.2), (1.0, 0.0)])
    settings = {"n_steps": 8, "nminibatches": 1, "policy.layers": [4], "seed": 0}
    settings |= {"cliprange": "middle_drop_0.2", "cliprange_vf": Linear(1.0, 0.5)}
    with rlk.make("ppo2", learning_rate=rate, **settings) as agent:
        path = agent.learn(16).save(tmp_path / "model")
    with rlk.load(path) as loaded:
        assert loaded.differs == [
            "it was loaded as a model, not as a checkpoint: replay, environments and what plugins "
            "keep in checkpoints alone start anew"
        ]
        config = loaded.plan.algorithm.config
        assert config.learning_rate == rate and config.cliprange == MiddleDrop(0.2)
        assert config.cliprange_vf == Linear(1.0, 0.5)
        loaded.learn(16, reset_num_timesteps=False)
        # The last collection began at 24 of 32.
        numbers = loaded.run.scheduled()
        assert numbers["train/learning_rate"] == pytest.approx(0.1)
        assert numbers["train/clip_range"] == pytest.approx(0.015)
        assert numbers["train/clip_range_vf"] == pytest.approx(0.625)


# ---- in a run ------------------------------------------------------------------------------------


def test_a_learning_rate_follows_it_from_collection_to_collection():
    seen = []

    class Notes:
        @rlk.hookimpl
        def rlk_rollout_end(self, run):
            seen.append(round(run.optimise.groups["policy"].learning_rate.item(), 6))

    rate = Piecewise([(0.0, 0.4), (0.5, 0.2), (1.0, 0.0)])
    settings = {"n_steps": 8, "nminibatches": 1, "learning_rate": rate, "seed": 0}
    with rlk.make("ppo2", plugins=[Notes()], **settings) as agent:
        agent.learn(32)
    assert seen == [0.4, 0.3, 0.2, 0.1]


def test_it_imports_no_torch():
    script = "import sys, rlk_schedules; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
