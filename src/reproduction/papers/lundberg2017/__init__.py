"""Lundberg and Lee (2017): consistent feature attribution for tree ensembles, and TreeSHAP."""
