"""What off-policy algorithms share: when to update, actors, exploration, critics and targets."""
