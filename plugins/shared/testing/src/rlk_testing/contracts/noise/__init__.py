"""The contract of exploration noises."""
