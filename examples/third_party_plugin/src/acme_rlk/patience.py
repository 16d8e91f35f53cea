"""Stops a run whose episodes have stopped getting better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from rlk import Component, Patch, hookimpl
from rlk.settings import documented, setting

if TYPE_CHECKING:
    from rlk import RunSpec
    from rlk.running.run import Run


@documented
@attrs.frozen(kw_only=True)
class PatienceConfig:
    """How long to wait."""

    episodes: int = attrs.field(
        default=50, **setting("episodes to wait, 1 to 99", attrs.validators.in_(range(1, 100)))
    )


@attrs.frozen
class Patience:
    """Hook implementations; the plan and the run each make an instance."""

    config: PatienceConfig

    @hookimpl
    def rlk_configure(self, spec: RunSpec) -> Patch:
        """Propose a setting; one that the user has set takes precedence."""
        return Patch({"log_interval": 5}, reason="to see it coming")

    @hookimpl
    def rlk_should_stop(self, run: Run) -> str | None:
        """The reason to stop, or None."""
        returns = [return_ for return_, _ in run.metrics.recent_episodes]
        wait = self.config.episodes
        if len(returns) > wait and max(returns[-wait:]) <= max(returns[:-wait]):
            return f"patience: nothing better in {wait} episodes"
        return None


SUMMARY = "stops a run whose episodes have stopped getting better"
component = Component(name="patience", factory=Patience, config=PatienceConfig, summary=SUMMARY)
