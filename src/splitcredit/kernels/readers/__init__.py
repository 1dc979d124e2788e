"""Read model files of other libraries by compiled code.

**The idea.** A model is converted from what its own library writes: a text by LightGBM, a document
in UBJSON by XGBoost. In Python, to read it number by number or tree by tree takes as long as the
library takes to write it. The kernels of this wing go over all trees at once. They know the form of
what is written and not what it means, which is the part of ``models/formats``. They exist for
speed alone: on the page ``docs/benchmarks.md`` times *end to end* include them, and times of a
*kernel* do not.

**The files.**

- `lines` finds the lines ``key=content`` of LightGBM's trees, and puts keys in a form for kernels.
- `decimals` reads the decimal numbers in them, and rounds as Python's ``float`` does.
- `records` finds the arrays of XGBoost's trees.

What they cannot read for certain is left to Python, which reads or refuses it.

**Arrays.** A text is bytes, or uint8 (n_characters,), read-only. Places in it are int64: where
lists or objects begin and end, -1 where there is none, and how many numbers there is room for.
"""
