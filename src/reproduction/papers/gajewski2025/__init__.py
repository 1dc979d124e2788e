"""Gajewski et al. (2025): estimating feature importance faithfulness for tree models."""
