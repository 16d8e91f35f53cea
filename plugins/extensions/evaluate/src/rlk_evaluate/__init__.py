"""Evaluation: whole episodes of a policy in environments of their own (`rlk evaluate`, `rlk enjoy`).

`rlk_evaluate.evaluate` has `evaluate`, `evaluate_agent` and `evaluate_run`; nothing is imported here, for the
commands' components must cost no more than a millisecond.
"""
