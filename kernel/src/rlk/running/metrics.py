"""What a run measures: the latest episodes, and what updates report as rows for loggers."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import BrokenPlugin, PlanError
from rlk.running.fetching import fetched
from rlk.running.rows import as_numbers
from rlk.structure import structured

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.running.clock import Clock

#: Rows average over this many episodes unless told otherwise, as Stable Baselines does.
EPISODE_WINDOW = 100


def _are_pairs(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    pairs = value.values() if isinstance(value, dict) else value
    if any(len(pair) != 2 or not pair[1] >= 0 or pair[1] % 1 for pair in pairs):
        raise ValueError(f"{attribute.name} are pairs of a number and a count")


@attrs.frozen
class _Saved:
    """The form of `Metrics.state_dict`."""

    totals: dict[str, list[float]] = attrs.field(validator=_are_pairs)
    extra: dict[str, float]
    episodes: list[list[float]] = attrs.field(validator=_are_pairs)
    successes: list[float | None]
    added: dict[str, list[float]] = attrs.field(validator=_are_pairs)
    row_asked: bool = False


class Means:
    """Means of named numbers, from one `take` to the next."""

    def __init__(self) -> None:
        self.totals: dict[str, tuple[float, int]] = {}  #: sum and count, by name

    def __bool__(self) -> bool:
        """Whether any number was added."""
        return bool(self.totals)

    def add(self, name: str, number: float) -> None:
        """Add one number."""
        total, count = self.totals.get(name, (0.0, 0))
        self.totals[name] = (total + number, count + 1)

    def take(self) -> dict[str, float]:
        """The means since the last call."""
        totals, self.totals = self.totals, {}
        return {name: total / count for name, (total, count) in totals.items()}

    def state_dict(self) -> dict[str, list[float]]:
        return {name: list(pair) for name, pair in self.totals.items()}

    def load_state_dict(self, state: Mapping[str, list[float]]) -> None:
        self.totals = {name: (total, int(count)) for name, (total, count) in state.items()}


class Metrics:
    """Collects what is measured.

    Args:
        clock: of the run.
        whose: the component whose updates are measured, for messages.

    Attributes:
        recent_episodes: (return, length) of the latest episodes, the latest last.
        recent_successes: how far each of them was a success, 0 to 1; None where the environment
            does not say.
        episode_listeners: are called with the return, length and success of every episode, as
            `episode_ended`.
        row_asked: whether the next border has a row, also where `log_interval` leaves it without.
    """

    def __init__(self, clock: Clock, whose: str = "the algorithm") -> None:
        self._clock, self._whose = clock, whose
        self.recent_episodes: deque[tuple[float, int]] = deque(maxlen=EPISODE_WINDOW)
        self.recent_successes: deque[float | None] = deque(maxlen=EPISODE_WINDOW)
        self.episode_listeners: list[Callable[[float, int, float | None], object]] = []
        self._unread: list[Mapping[str, Tensor]] = []
        self._bad: str | None = None  # the first non-finite metric, in words
        self._row_means = Means()
        self._all_means = [self._row_means]
        self._extra: dict[str, float] = {}
        self._added = Means()
        self.row_asked = False
        self.start_row()

    def average_over(self, episodes: int) -> None:
        """Let rows average over this many of the latest episodes.

        Raises:
            PlanError: for fewer than 1.
        """
        if episodes < 1:
            raise PlanError(f"rows average over at least 1 of the latest episodes, got {episodes}.")
        self.recent_episodes = deque(self.recent_episodes, maxlen=episodes)
        self.recent_successes = deque(self.recent_successes, maxlen=episodes)

    def episode_ended(self, return_: float, length: int, success: float | None = None) -> None:
        """Record an episode; `success` is its last info `is_success`, if there is one."""
        self.recent_episodes.append((return_, length))
        self.recent_successes.append(success)
        for listener in self.episode_listeners:
            listener(return_, length, success)

    @contextlib.contextmanager
    def followed(self) -> Iterator[Means]:
        """Separate means, for a reader that needs them more often than rows are written.

        They are filled when the reports of updates are read, at the end of every iteration.
        """
        means = Means()
        self._all_means.append(means)
        try:
            yield means
        finally:
            self._all_means = [one for one in self._all_means if one is not means]

    def push(self, metrics: Mapping[str, Tensor]) -> None:
        """Record the metrics of one update; they stay tensors until `read`."""
        self._unread.append(metrics)

    def read(self) -> str | None:
        """Add up the metrics that were pushed.

        Returns:
            A sentence about the first non-finite metric since the last call, or None.

        Raises:
            BrokenPlugin: for anything but a dict of tensors of a single number each.
        """
        self._add_up()
        bad, self._bad = self._bad, None
        return bad

    def _add_up(self) -> None:
        """Add up what was pushed, to the first non-finite metric, which `read` tells of."""
        unread, self._unread = self._unread, []
        first_update = self._clock.updates - len(unread) + 1
        for update, metrics in enumerate(unread, first_update):
            if not isinstance(metrics, Mapping):
                raise self._no_metrics(metrics, update)
        for update, metrics in enumerate(fetched(unread), first_update):
            for name, value in metrics.items():
                number = self._number(name, value, update)
                if not math.isfinite(number):
                    when = f"in update {update} at timestep {self._clock.timesteps}"
                    self._bad = self._bad or f"{_in_words(name)} is {number} {when}"
                    return
                for means in self._all_means:
                    means.add(name, number)

    def _number(self, name: str, value: Any, update: int) -> float:
        """A metric as a Python number; BrokenPlugin unless it is a tensor of a single number."""
        try:
            number: float = value.item()
        except (AttributeError, RuntimeError, ValueError) as error:
            if getattr(value, "ndim", None) == 0:  # it is a number, so the error is the device's
                raise
            raise self._no_number(name, value, update) from error
        return number

    def _no_metrics(self, found: Any, update: int) -> BrokenPlugin:
        """The error for an update that reports something other than metrics by name."""
        return BrokenPlugin(
            f"{self._whose}: update {update} returned Update(metrics={found!r:.80}). They are a "
            "dict of tensors of a single number by name, {} where there is nothing to log."
        )

    def _no_number(self, name: str, value: Any, update: int) -> BrokenPlugin:
        """The error for a metric that cannot be added up."""
        return BrokenPlugin(
            f"{self._whose}: metric {name!r} of update {update} is {value!r:.80}. Each is a tensor "
            "of a single number: loss.detach(), the mean() of several, torch.tensor(number). What "
            "wraps a loss or an update, and an optimiser, may have put it there as well."
        )

    def set(self, tag: str, value: float) -> None:
        """Put a number into the next row (`eval/mean_reward`).

        Raises:
            BrokenPlugin: for anything else.
        """
        self._extra[tag] = float(as_numbers({tag: value}, "a call of metrics.set")[tag])

    def add(self, tag: str, value: float) -> None:
        """Put the mean of all values of a tag since the last row into the next one.

        Raises:
            BrokenPlugin: for anything but a number.
        """
        self._added.add(tag, float(as_numbers({tag: value}, "a call of metrics.add")[tag]))

    def ask_for_row(self) -> None:
        """Let this iteration end with a row, so that no number of another timestep is in it.

        If one rank asks, all ranks have that row.
        """
        self.row_asked = True

    def has_news(self) -> bool:
        """Whether there is anything new since the last row, also from before a checkpoint."""
        is_later = self._clock.timesteps != self._timesteps_at_row
        return is_later or bool(self._row_means) or bool(self._extra) or bool(self._added)

    def start_row(self) -> None:
        """Let the next row start here: nothing that came before needs one of its own."""
        self._timesteps_at_row = self._clock.timesteps

    def take_row(self) -> dict[str, float]:
        """The means since the last row, by Stable-Baselines3's tags, and what `set` and `add` put.

        The next row starts from here.
        """
        self._add_up()
        self.start_row()
        self.row_asked = False
        row = {f"train/{name}": mean for name, mean in self._row_means.take().items()}
        if row:
            row["train/n_updates"] = self._clock.updates_taken
        row |= self._extra | self._added.take()
        self._extra = {}
        return row

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next row averages, and the latest episodes."""
        self._add_up()
        return {
            "totals": self._row_means.state_dict(),
            "extra": dict(self._extra),
            "added": self._added.state_dict(),
            "episodes": [list(episode) for episode in self.recent_episodes],
            "successes": list(self.recent_successes),
            "row_asked": self.row_asked,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what was measured; BadFile unless `state` has the form of `state_dict`."""
        saved = structured(_Saved, state, "the saved metrics")
        self._row_means.load_state_dict(saved.totals)
        self._extra = saved.extra
        self._added.load_state_dict(saved.added)
        self.row_asked = saved.row_asked
        self.recent_episodes.clear()
        self.recent_episodes.extend((return_, int(length)) for return_, length in saved.episodes)
        self.recent_successes.clear()
        self.recent_successes.extend(saved.successes)


def _in_words(name: str) -> str:
    """The name of a metric in a sentence."""
    if not name.startswith("grad_norm"):
        return repr(name)
    group = name.removeprefix("grad_norm").removeprefix("_")
    return f"the gradient's norm of group {group!r}" if group else "the gradient's norm"
