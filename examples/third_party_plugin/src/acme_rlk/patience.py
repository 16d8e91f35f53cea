"""Stops a run whose episodes have stopped getting better."""

import attrs

from rlk import Component, Patch, hookimpl


@attrs.frozen(kw_only=True)
class PatienceConfig:
    episodes: int = attrs.field(default=50, metadata={"help": "episodes to wait, 1 to 99"})


@attrs.frozen
class Patience:
    config: PatienceConfig

    @hookimpl
    def rlk_configure(self, spec):
        return Patch({"log_interval": 5}, reason="to see it coming")

    @hookimpl
    def rlk_should_stop(self, run):
        returns = [return_ for return_, _ in run.metrics.recent_episodes]
        wait = self.config.episodes
        if len(returns) > wait and max(returns[-wait:]) <= max(returns[:-wait]):
            return f"patience: nothing better in {wait} episodes"


component = Component(name="patience", factory=Patience, config=PatienceConfig, summary=__doc__)
