"""Plots of importances, attributions and interactions, and the form that plots of shap take.

- `drawing` has axes, labels, colors and texts.
- `kinds` draws each kind of plot.
- `results` checks what a result is to show, and chooses the kind.
"""
