"""A run begins with the policy of a saved model (`--plugin model-start:path=MODEL`)."""
