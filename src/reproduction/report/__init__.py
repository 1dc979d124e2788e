"""The report of a run: one HTML file with every figure, every verdict and where they come from.

`page.render` lays the claims tables, the figures and the tables of a run into the templates of the
folder ``templates``. The texts lie beside the code of each paper, in two files of
``papers/PAPER``: ``captions.yaml`` has a caption for each artefact, and ``account.yaml`` has the
claims of the paper and the findings about them. Numbers in these texts are read from the tables of
the run by `numbers.Numbers`, so that they cannot differ from them.
"""
