"""Faithfulness: how much a prediction moves when the features that a ranking names are perturbed.

- `perturbations`: what replaces the value of a perturbed feature;
- `prediction_gap`: PG^2, PGI^2 and PGU^2 of gajewski2025, exactly;
- `greedy`, `optimum`: rankings made from PG^2, step by step and the best of all orders;
- `sampling`: the same gaps by Monte Carlo and quasi-Monte Carlo;
- `randomizing`, `retraining`: the error of a model whose important features are randomized, or
  that is fitted again without them.
"""
