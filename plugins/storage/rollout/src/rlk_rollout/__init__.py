"""The rollout storage (`--storage rollout`): what on-policy algorithms learn from."""
