"""Turn models into forests: arrays of a forest, formats of libraries, and predictions.

`Opened` of ``opened.py`` holds a model and its rows, made once for each call.
"""
