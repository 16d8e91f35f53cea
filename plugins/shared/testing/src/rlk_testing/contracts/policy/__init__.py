"""The contract of policies, feedforward and recurrent."""
