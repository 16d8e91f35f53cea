"""What a run measures: episodes, losses and speed, as rows for loggers."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.records import Array

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.clock import Clock

#: Rows average over this many episodes, as Stable Baselines does.
EPISODE_WINDOW = 100


class Episodes:
    """Returns and lengths of episodes, per environment and of the last ones finished."""

    def __init__(self, n_envs: int) -> None:
        self._returns = np.zeros(n_envs)
        self._lengths = np.zeros(n_envs, dtype=np.int64)
        self.recent: deque[tuple[float, int]] = deque(maxlen=EPISODE_WINDOW)
        self.count = 0

    def step(self, reward: Array) -> None:
        self._returns += reward
        self._lengths += 1

    def ended(self, env: int, info: Mapping[str, Any] | None = None) -> None:
        """An episode is over. A Monitor's own figures win (rewards may be normalised here)."""
        own = {"r": self._returns[env], "l": self._lengths[env]} if info is None else info
        self.recent.append((float(own["r"]), int(own["l"])))
        self.count += 1
        self._returns[env] = self._lengths[env] = 0

    def reset(self) -> None:
        self._returns[:] = self._lengths[:] = 0

    def state_dict(self) -> dict[str, Any]:
        running = {"returns": self._returns.copy(), "lengths": self._lengths.copy()}
        return {**running, "recent": [list(one) for one in self.recent], "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._returns[:], self._lengths[:] = state["returns"], state["lengths"]
        self.recent.clear()
        self.recent.extend((float(r), int(length)) for r, length in state["recent"])
        self.count = int(state["count"])


class Metrics:
    """Collects what updates report and makes rows of it."""

    def __init__(self, clock: Clock, episodes: Episodes) -> None:
        self._clock, self._episodes = clock, episodes
        self._unread: list[Mapping[str, Tensor]] = []
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._extra: dict[str, float] = {}
        self._started = time.monotonic()
        self.mark()

    def push(self, metrics: Mapping[str, Tensor]) -> None:
        """The metrics of one update; they stay tensors until `read`."""
        self._unread.append(metrics)

    def read(self) -> str | None:
        """Add up what was pushed; says of the first figure that is not finite what and when."""
        unread, self._unread = self._unread, []
        for update, metrics in enumerate(unread, self._clock.updates - len(unread) + 1):
            for name, value in metrics.items():
                number = value.item()
                if not math.isfinite(number):
                    what = "the gradient's norm" if name == "grad_norm" else repr(name)
                    when = f"in update {update} at timestep {self._clock.timesteps}"
                    return f"{what} is {number} {when}"
                self._sums[name] = self._sums.get(name, 0.0) + number
                self._counts[name] = self._counts.get(name, 0) + 1
        return None

    def set(self, tag: str, value: float) -> None:
        """A figure for the next row (`eval/mean_reward`)."""
        self._extra[tag] = float(value)

    def has_news(self) -> bool:
        """Whether anything happened since the last row."""
        return self._clock.timesteps != self._mark[1] or bool(self._extra)

    def mark(self) -> None:
        """Speed is measured from here on."""
        self._mark = (time.monotonic(), self._clock.timesteps)

    def row(self) -> dict[str, float]:
        """Everything since the last row, by SB3's tags; starts the next."""
        self.read()
        clock, episodes, (before, steps_before) = self._clock, self._episodes, self._mark
        self.mark()
        seconds = self._mark[0] - before
        row: dict[str, float] = {}
        if episodes.recent:
            means = map(float, np.mean(episodes.recent, axis=0))
            row["rollout/ep_rew_mean"], row["rollout/ep_len_mean"] = means
        row["time/fps"] = (clock.timesteps - steps_before) / seconds if seconds > 0 else 0.0
        row["time/iterations"] = clock.iterations
        row["time/time_elapsed"] = self._mark[0] - self._started
        row["time/total_timesteps"] = clock.timesteps
        row["time/episodes"] = episodes.count
        if self._sums:
            row |= {f"train/{name}": sum_ / self._counts[name] for name, sum_ in self._sums.items()}
            row["train/n_updates"] = clock.updates
        row |= self._extra
        self._sums, self._counts, self._extra = {}, {}, {}
        return row

    def state_dict(self) -> dict[str, Any]:
        """What the next row is to average, with what came before; speed is measured anew."""
        self.read()
        return {"sums": {**self._sums}, "counts": {**self._counts}, "extra": {**self._extra}}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._sums, self._counts = dict(state["sums"]), dict(state["counts"])
        self._extra = dict(state["extra"])
