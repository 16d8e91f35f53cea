"""A live run: non-finite numbers, what it offers to plugins, and several processes."""

from __future__ import annotations

import functools

import attrs
import pytest
import torch

from rlk import files, hookimpl
from rlk.documents import read_json
from rlk.errors import BrokenPlugin, NotFinite, RlkError
from rlk.one_process import OneProcess
from rlk_testing.stand_ins import StandIn, StandInOptimiser, StandInStorage

# ---- what is not finite -------------------------------------------------------------------------


def spoils(update: int, **what):
    class Spoils(StandIn):
        count = 0

        def loss(self, batch):
            self.count += 1
            found = super().loss(batch)
            if self.count != update:
                return found
            if "metric" in what:
                metrics = {**found.metrics, what["metric"]: torch.tensor(float("nan"))}
                return found._replace(metrics=metrics)
            return found._replace(value=found.value * float("inf"))

    return Spoils


def test_a_gradient_that_is_not_finite_is_not_taken_and_named_at_the_border(make):
    agent = make(algorithm=spoils(3))
    agent.learn(8)
    before = agent.run.parameters.flat.clone()
    with pytest.raises(NotFinite) as caught:
        agent.learn(100, reset_num_timesteps=False)
    message = str(caught.value)
    assert "algorithm 'stand-in'" in message and "the gradient's norm is" in message
    assert "in update 3 at timestep 12" in message and "learning_rate" in message
    assert "scale of observations and rewards (rlk plugins list --kind wrappers" in message
    assert "The parameters are finite: no step is taken" in message
    assert agent.run.parameters.flat.equal(before)


class Careless(StandInOptimiser):
    def step(self, objective):
        loss, gradient = objective.gradient()
        self.group.flat.sub_(gradient)
        return loss._replace(metrics={"grad_norm": gradient.norm()})


def test_an_optimiser_that_takes_a_step_that_is_not_finite_is_named(make):
    agent = make(algorithm=spoils(2), optimiser=Careless)
    with pytest.raises(
        NotFinite, match=r"non-finite, too, those of group '\w+' by Careless, which"
    ):
        agent.learn(100)


def test_a_metric_that_is_not_finite_is_named(make):
    with pytest.raises(NotFinite, match="'strange' is nan in update 2 at timestep 8"):
        make(algorithm=spoils(2, metric="strange")).learn(100)


# ---- not a number ------------------------------------------------------------------------------


def test_a_plugin_that_logs_anything_but_a_number_is_named(make):
    class Fine:
        @hookimpl
        def rlk_log(self, row):
            row["fine/count"] = torch.tensor(3)

    class Odd:
        @hookimpl
        def rlk_log(self, row):
            row["odd/phase"] = "warm-up"

    class Writes:
        rows: list = []

        @hookimpl
        def rlk_write_row(self, row):
            self.rows.append(row)

    make(Fine(), Writes()).learn(8)
    assert Writes.rows and all(row["fine/count"] == 3 for row in Writes.rows)
    assert {type(number) for row in Writes.rows for number in row.values()} == {int, float}
    Writes.rows.clear()
    with pytest.raises(BrokenPlugin, match=r"Odd.* gave 'warm-up' to log as 'odd/phase'"):
        make(Fine(), Odd(), Writes()).learn(8)
    assert not Writes.rows


def test_an_answer_to_rlk_log_that_nobody_reads_is_refused(make):
    class Answers:
        @hookimpl
        def rlk_log(self):
            return {"train/phase": 1.0}

    with pytest.raises(BrokenPlugin, match=r"answered rlk_log with {.*row\[tag\] = number"):
        make(Answers()).learn(8)


def test_what_is_no_number_of_an_actor_is_named_with_its_owner(make):
    class Told:
        def metrics(self):
            return {"temperature": None}

    run = make().run
    run.actor.metrics = Told().metrics
    with pytest.raises(BrokenPlugin, match=r"Told\.metrics gave None to log as 'temperature'"):
        run.scheduled()


def test_a_source_of_metrics_may_have_no_name_of_its_own(make):
    run = make().run
    run.metric_sources.append(functools.partial(dict, {"mine/x": 1.0}))
    assert run.scheduled()["mine/x"] == 1.0
    run.metric_sources.append(functools.partial(dict, {"mine/y": None}))
    with pytest.raises(BrokenPlugin, match=r"partial\(.* gave None to log as 'mine/y'"):
        run.scheduled()


def test_a_metric_of_a_wrapped_loss_that_is_no_tensor_is_named(make):
    class Term:
        @hookimpl
        def rlk_wrap_loss(self, run, group):
            def wrap(loss_fn):
                return lambda *args: loss_fn(*args)._replace(metrics={"strength": 0.1})

            return wrap

    with pytest.raises(BrokenPlugin, match=r"metric 'strength' of update 1 is 0\.1\. Each is a te"):
        make(Term()).learn(8)


def test_an_algorithm_without_batches_to_iterate_over_is_named(make):
    class Forgets(StandIn):
        def batches(self, storage):
            """Returns None."""

    said = r"algorithm 'stand-in' .*: batches\(\) returned None\. It must return batches to"
    with pytest.raises(BrokenPlugin, match=said):
        make(algorithm=Forgets).learn(8)


# ---- what it offers to plugins ------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), "high"])
def test_a_limit_of_the_norm_that_is_not_above_0_is_refused(make, limit):
    with pytest.raises(RlkError, match="group 'other': max_grad_norm must be a number above 0"):
        make().run.group("other", learning_rate=0.1, max_grad_norm=limit)


@pytest.mark.parametrize("prefixes", [(), "abc"])
def test_prefixes_are_one_or_more_names(make, prefixes):
    with pytest.raises(RlkError, match="group 'other': prefixes must be a tuple of one or more"):
        make().run.group("other", prefixes, learning_rate=0.1)


def test_what_is_scheduled_is_logged_by_its_name_with_what_storages_log(make):
    class Storage(StandInStorage):
        def metrics(self):
            return {"replay/beta": 0.5}

    rows = []

    class Logs:
        @hookimpl
        def rlk_make_storage(self):
            return Storage()

        @hookimpl
        def rlk_log(self, row):
            rows.append(row)

    agent = make(Logs())
    agent.run.schedule("clip_range", lambda remaining: remaining)
    agent.learn(16)
    assert agent.run.scheduled() == {
        "train/learning_rate": pytest.approx(0.05),
        "train/clip_range": 0.25,
        "replay/beta": 0.5,
    }
    assert rows[-1]["train/clip_range"] == 0.25 and rows[-1]["replay/beta"] == 0.5


def test_an_actor_that_acts_with_its_own_policy_alone_says_so(make):
    run = make().run
    with pytest.raises(RlkError, match="its actor acts with the run's policy alone, not with"):
        run.make_actor(policy=run.parameters.clone().module)


def test_closing_closes_everything_once_and_the_last_opened_first(make):
    closed = []
    agent = make()
    run = agent.run
    run.on_close += [lambda: closed.append("first"), lambda: closed.append("second")]
    agent.close()
    agent.close()
    assert closed == ["second", "first"] and run.env.closed


def test_a_row_has_the_learning_rate_once_there_were_updates(make):
    rows = []

    class Keeps:
        @hookimpl
        def rlk_log(self, row):
            rows.append(dict(row))

    agent = make(Keeps(), learning_rate=0.25)
    agent.run.log()
    agent.learn(16)
    agent.run.log()
    assert "train/learning_rate" not in rows[0]
    assert rows[1]["train/learning_rate"] == 0.25
    assert "train/learning_rate" not in rows[-1]  # no update since the row before


# ---- one of several processes -------------------------------------------------------------------


class OtherRank(OneProcess):
    """Two ranks, of which the other says what it is told to."""

    size = 2

    def __init__(self, says=None):
        self.says = says

    def gather(self, value):
        return [value, self.says]


class Joins:
    def __init__(self, says=None):
        self.says = says

    @hookimpl
    def rlk_make_communicator(self):
        return OtherRank(self.says)


def test_timesteps_count_the_environments_of_all_ranks(make):
    agent = make(Joins(), n_envs=3)
    agent.learn(4 * 3 * 2)
    assert agent.run.clock.iterations == 1 and agent.num_timesteps == 24


def test_any_ranks_reason_ends_the_run_and_its_rank_is_named(make):
    assert make(Joins("enough")).run.stop_reason() == "enough (rank 1)"
    run = make(Joins("enough")).run
    run.stop("first")
    assert run.stop_reason() == "first (rank 0)"
    assert make(Joins()).run.stop_reason() is None


def test_a_plugin_settles_the_plan_as_this_process_has_it(make, tmp_path):
    class Settles:
        @hookimpl
        def rlk_settle_plan(self, plan):
            return attrs.evolve(plan, out=None, seed=7)

    run = make(Settles(), out=str(tmp_path / "run"), seed=1).run
    assert run.out is None and run.streams.seed == 7
    run.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_plugin_opened_is_closed_when_there_is_no_environment_yet(make):
    closed = []

    class Opens:
        @hookimpl
        def rlk_make_communicator(self, run):
            run.on_close.append(lambda: closed.append(True))

        @hookimpl
        def rlk_wrap_communicator(self):
            raise RlkError("none today")

    with pytest.raises(RlkError, match="none today"):
        make(Opens())
    assert closed == [True]


def test_a_plugin_is_told_whether_a_checkpoint_holds_the_replay(make, tmp_path):
    class Saves:
        asked: list = []

        @hookimpl
        def rlk_save(self, replay):
            self.asked.append(replay)

    agent = make(Saves())
    agent.save_checkpoint(tmp_path / "with")
    agent.save_checkpoint(tmp_path / "without", replay=False)
    assert Saves.asked == [True, False]


def test_of_several_ranks_only_the_first_writes_a_model(make, tmp_path):
    agent = make()
    agent.run.communicator.rank = 1
    path = agent.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    agent.run.communicator.rank = 0
    assert agent.save(tmp_path / "model") == path and path.is_file()


def test_a_run_with_a_folder_writes_its_plan_once_as_it_begins(make, tmp_path):
    agent = make(out=str(tmp_path), seed=5)
    path = tmp_path / "plan.json"
    assert not path.exists()
    agent.learn(8)
    plan = read_json(path)
    assert plan["run"]["seed"] == 5
    assert plan["components"][0]["name"] == agent.plan.algorithm.name
    path.write_text("{}")
    agent.learn(8)
    assert read_json(path) == {}


def test_a_run_that_fails_before_it_writes_anything_leaves_its_folder_empty(make, tmp_path):
    def fails(run):
        raise RuntimeError("in the callback")

    with make(out=str(tmp_path)) as agent, pytest.raises(RuntimeError):
        agent.learn(8, callback=fails)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_cannot_be_written_is_named_before_the_first_step(make, tmp_path, monkeypatch):
    agent = make(out=str(tmp_path))

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "replacing", full)
    with pytest.raises(RlkError, match=r"plan\.json cannot be written: No space left"):
        agent.learn(8)
    assert agent.num_timesteps == 0
