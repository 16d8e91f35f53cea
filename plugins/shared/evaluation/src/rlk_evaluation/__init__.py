"""Whole episodes of a policy, and how their returns are printed.

`rlk_evaluation.evaluate` has `evaluate_agent`, `evaluate_run` and `play_episodes`; nothing is
imported here, because `number_text` must be imported within a millisecond.
"""
