"""What models of sb3-contrib share, by its module names."""
