"""The contract of extensions: also on several ranks, and in updates that are traced."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from torch import Tensor, nn

from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import may_have
from rlk_testing.contracts.shared.observer_checks import ObserverChecks
from rlk_testing.contracts.shared.two_ranks import train_on_two_ranks

#: The hook of an extension that lets ranks train together.
_OF_RANKS = "rlk_make_communicator"
#: The hooks whose answers are called in updates.
_IN_UPDATES = (
    "rlk_wrap_update",
    "rlk_wrap_loss",
    "rlk_make_policy",
    "rlk_make_optimiser",
    "rlk_filter_observation",
)


class ExtensionContract(ObserverChecks):
    """What every extension must do: it may change anything, but reproducibly.

    Attributes:
        untraceable: a part of the reason that `compile` has for running updates with it eagerly;
            "" if it traces them.
        differs_by_rank: attributes of it whose networks are meant to differ from rank to rank.
    """

    kind = "extensions"
    untraceable: ClassVar[str] = ""
    differs_by_rank: ClassVar[tuple[str, ...]] = ()

    @applies(lambda suite: not hasattr(suite.record().load(), _OF_RANKS))
    def test_two_ranks_with_it_train_the_same_parameters(self) -> None:
        """The ranks are threads; without a plugin for ranks, each counts its own timesteps."""
        if hasattr(self.made(), _OF_RANKS):
            return  # made by a function, so that `applies` could not know
        name = self.entry().name
        self.kernel()  # made once, and not by both at the same time
        own = train_on_two_ranks(
            lambda rank: self.agent(plugins=(name, rank)),
            self.timesteps,
            "it must communicate as often on both (run.communicator), at the same places",
            look=lambda agent: self.parameters_of(agent.run.hooks.get(name)),
        )
        for key, parameter in own[0].items():
            assert parameter.equal(own[1].get(key, parameter)), (
                f"its parameters {key} are not the same on two ranks, so each trains for something "
                "else: begin with those of rank 0 (run.communicator.agree) and average their "
                "gradients (run.communicator.mean). If they are meant to differ, name the network "
                "in the suite's `differs_by_rank`"
            )

    def parameters_of(self, plugin: object) -> dict[str, Tensor]:
        """Copies of the parameters of its own networks that must be the same on all ranks.

        The networks are its attributes; a name is `attribute.parameter`.
        """
        return {
            f"{attribute}.{name}": parameter.detach().clone()
            for attribute, network in getattr(plugin, "__dict__", {}).items()
            if isinstance(network, nn.Module) and attribute not in self.differs_by_rank
            for name, parameter in network.named_parameters()
        }

    @applies(lambda suite: any(may_have(suite, hook) for hook in _IN_UPDATES))
    def test_compile_traces_an_update_with_it_or_gives_the_reason_that_is_expected(self) -> None:
        if "compile" not in self.kernel().registries.extensions:
            pytest.skip("rlk-compile is not installed")
        plugins = tuple(dict.fromkeys((self.entry().name, "compile")))
        with self.agent(plugins=plugins, compile={"backend": "eager"}) as agent:
            agent.learn(self.timesteps)
            update: Any = agent.run.hooks.get("compile").update
        assert update is not None, "compile traces no run with this policy: give the suite another"
        assert update.calls, "the run makes no update: give the suite more `timesteps`"
        reasons = "; ".join(update.reasons.values())
        if "cannot trace autograd.grad" in reasons:
            pytest.skip(reasons)  # of an older torch
        if not self.untraceable:
            assert not reasons, (
                f"with it, compile runs updates eagerly: {reasons}. Use only tensors in what "
                "updates call; if that cannot be, say so in the suite, `untraceable` = a part of "
                "this reason"
            )
        assert self.untraceable in reasons
