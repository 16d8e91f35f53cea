"""Whole episodes of a policy, and how their returns are printed.

`rlk_evaluation.evaluate` has `evaluate`, `evaluate_agent` and `evaluate_run`; nothing is imported
here, because `number_text` must be imported within a millisecond.
"""
