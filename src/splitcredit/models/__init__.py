"""Turn models into forests: the arrays of a forest, the formats it is read from, what it predicts.

`Opened` of ``opened.py`` holds a model and its rows, made once for each call.
"""
