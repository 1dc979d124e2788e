"""Interventional TreeSHAP: Shapley values against a background."""
