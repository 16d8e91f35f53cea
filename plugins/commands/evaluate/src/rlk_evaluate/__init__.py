"""Evaluation: `rlk evaluate`, `rlk enjoy`, and the functions behind them.

`rlk_evaluate.evaluate` has `evaluate`, `evaluate_agent` and `evaluate_run`; nothing is imported
here, for the commands' components must cost no more than a millisecond.
"""
