"""`every-n`: calls a function at an interval of timesteps (Stable Baselines' `EveryNTimesteps`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.strict_types import own_number
from rlk_callbacks.interval import next_due
from rlk_callbacks.stop_config import EveryNConfig

if TYPE_CHECKING:
    from rlk.running.run import Run


class EveryN:
    """Calls a function of the run after the first vector step that passes a multiple of `n_steps`.

    Training stops if the function returns False. Deviation from Stable Baselines 2.10: it calls
    once at least `n_steps` timesteps have passed since the last call.

    Args:
        config: its settings, or None.
        n_steps: instead of the config: interval in timesteps over all environments.
        call: instead of the config: the function.

    Raises:
        PlanError: if there is no function to call.
    """

    def __init__(
        self,
        config: EveryNConfig | None = None,
        n_steps: int = 1000,
        call: Callable[[Run], Any] | None = None,
    ) -> None:
        self._config = config or EveryNConfig(n_steps=n_steps, call=call)
        if self._config.call is None:
            raise PlanError(
                "callback 'every-n' (rlk-callbacks) has nothing to call. Pass a function of the "
                "run: rlk.make(…, plugins=['every-n'], settings={'every-n.call': f})"
            )
        self._due = 0

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        self._due = next_due(run.timesteps, self._config.n_steps)

    @hookimpl
    def rlk_step(self, run: Run) -> bool | None:
        if run.timesteps < self._due:
            return None
        self._due = next_due(run.timesteps, self._config.n_steps)
        assert self._config.call is not None
        return False if own_number(self._config.call(run)) is False else None
