"""The part of an algorithm's contract that is about updates: what they report, and what moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import has_usual_settings

if TYPE_CHECKING:
    from rlk.optimise import Objective
    from rlk.protocols import State
    from rlk.records import Loss


class AlgorithmUpdateChecks(AlgorithmSuite):
    """Checks that `AlgorithmContract` inherits."""

    def test_metrics_are_finite_tensors_that_nobody_has_read(self) -> None:
        import torch

        for _, _, update in self.training().updates:
            assert update.metrics, "Update(metrics={}) is empty: at least the loss belongs there"
            for name, value in update.metrics.items():
                assert isinstance(value, torch.Tensor), (
                    f"metric {name!r} is a {type(value).__name__}: .item() waits for the device at "
                    f"every update"
                )
                assert value.dim() == 0 and not value.requires_grad, (
                    f"metric {name!r} is not 0-dim and detached"
                )
                assert bool(torch.isfinite(value)), f"metric {name!r} is {float(value)}"

    def test_every_update_reports_what_the_component_declares(self) -> None:
        import torch

        reports = self.record().reports
        for batch, _, update in self.training().updates:
            for name in reports:
                value = getattr(update, name, None)
                assert isinstance(value, torch.Tensor), (
                    f"it declares {name!r} and reports {value!r}"
                )
                assert not value.requires_grad, f"{name} is not detached"
                if name == "td_error":
                    assert value.shape == (len(batch.action),), (
                        f"td_error has shape {tuple(value.shape)}"
                    )
            if "td_error" not in reports:
                assert update.td_error is None, (
                    "it reports td_error: declare it in Component(reports=…)"
                )

    def test_an_update_leaves_its_batch_as_it_was(self) -> None:
        written = self.training().watch.written
        assert not written, (
            f"an update wrote to {sorted(written)} of its batch, maybe the storage's own memory"
        )

    def test_no_update_pairs_every_transition_with_every_other(self) -> None:
        for operation, n in self.training().paired.items():
            raise AssertionError(
                f"in an update, torch.{operation} makes [{n}, {n}] of a tensor [{n}, 1] and one "
                f"of [{n}]: a head of one output gives [B, 1], so take value.squeeze(1)"
            )

    def test_parameters_stay_views_of_one_flat_tensor(self) -> None:
        if (error := self.training().replaced) is not None:
            raise error

    def test_every_parameter_is_moved_by_some_group(self) -> None:
        with self.agent() as agent:
            run = agent.run
            grouped = {id(p) for group in run.optimise.groups.values() for p in group.parameters}
            idle = [n for n, p in zip(run.parameters.names, run.parameters.select()[0], strict=True)
                    if id(p) not in grouped]  # fmt: skip
            assert not idle, f"no group holds {idle}: run.group(name, prefixes, …)"

    def test_training_moves_every_parameter(self) -> None:
        idle = self.training().idle
        assert not idle, (
            f"two trainings of {self.n_steps_trained} timesteps leave {', '.join(idle)} as before: "
            "call optimise for every group, with a loss that depends on all of its parameters"
        )

    @applies(has_usual_settings)
    def test_parameters_move_by_nothing_but_optimise(self) -> None:
        """Else ranks differ, and a step that is refused has an effect."""
        with self.agent() as agent:
            run = agent.run
            before = run.parameters.flat.clone()
            run.optimise.steps.update(dict.fromkeys(run.optimise.steps, MovesNothing()))
            agent.learn(self.n_steps_trained)
            assert run.clock.updates > 0
            assert before.equal(run.parameters.flat), (
                "training changes parameters although its optimisers move nothing: let the loss "
                "of optimise(group, loss, …) say how they move"
            )


class MovesNothing:
    """The step of an optimiser that keeps the gradient of its first loss, and moves nothing."""

    def __init__(self) -> None:
        self.gradient: Any = None

    def step(self, objective: Objective) -> Loss:
        loss, gradient = objective.gradient()
        if self.gradient is None:
            self.gradient = gradient.clone()
        return loss

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """It has no state."""
