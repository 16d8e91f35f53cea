"""Evaluation: `rlk evaluate`, `rlk enjoy`, and the functions behind them.

`rlk_evaluate.evaluate` has `evaluate`, `evaluate_agent` and `evaluate_run`; nothing is imported
here, because the commands' components must be imported within a millisecond.
"""
