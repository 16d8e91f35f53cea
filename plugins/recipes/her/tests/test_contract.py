"""What rlk expects of every recipe, checked on `her` as it is installed."""

from rlk_testing import RecipeContract


class TestHER(RecipeContract):
    component = "her"
    settings = {"model": "dqn", "n_sampled_goal": 2, "goal_selection_strategy": "final"}
    run = {"env": "rlk/BitFlipping-v0"}
