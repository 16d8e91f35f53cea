"""Classes of a program that would change how a model trains, which here plugins do."""

from __future__ import annotations

from rlk_baselines.refusals import Refused

#: Methods of Stable-Baselines3 that a program's class may override, but that rlk never calls.
_NEVER_CALLED = ("train", "collect_rollouts", "dump_logs", "_setup_model", "_store_transition")


def refuse_own_algorithm(kind: type, base: type) -> None:
    """Raise Refused for a class that overrides the algorithm's methods.

    Args:
        kind: the class.
        base: the class from which all models are derived.
    """
    own = [
        name for name in _NEVER_CALLED if getattr(kind, name, None) is not getattr(base, name, None)
    ]
    if own:
        raise Refused(
            f"{kind.__name__} has {' and '.join(own)}, which nothing would call: rlk trains by its "
            "own algorithms. Change them by plugins (docs/changing-a-run.md), or write one: "
            "rlk plugins new NAME --kind algorithm."
        )
