"""Draw importances, attributions and interactions, and convert them for shap's plots.

- `drawing` has axes, labels, colors and texts.
- `kinds` draws each kind of plot.
- `results` checks what a result is to show, and chooses the kind.
"""
