"""Multilayer perceptron policies for rlk."""
