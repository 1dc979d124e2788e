"""Measure how much a prediction moves when the features that a ranking names are perturbed.

The squared prediction gap PG^2 of a set of features is the expected square of the change of the
prediction when they are perturbed. PGI^2 of a ranking is the mean of PG^2 of its first feature, of
its first two, and so on to all; PGU^2 is the mean for the features that are left each time.

- `perturbations`: what replaces the value of a perturbed feature;
- `exact_gap`: PG^2 of gajewski2025, exactly;
- `rankings`: rankings of the features, row by row;
- `greedy`, `optimum`: rankings made from PG^2, step by step and the best of all;
- `bounds`: upper bounds of the PGI^2 of all rankings, for any number of features;
- `sampling`, `noise`: gaps by Monte Carlo and quasi-Monte Carlo, PGI and PGU as OpenXAI has them
  among them, and the noise for them;
- `randomizing`, `retraining`: the error of a model whose important features are randomized, or
  that is fitted again without them.
"""
