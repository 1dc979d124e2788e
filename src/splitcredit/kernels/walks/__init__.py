"""Walks: kernels that follow rows down trees."""
