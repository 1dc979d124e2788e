"""Kinds of values that parameters take, as annotations, which planning checks before the first job.

Loaders of data sets and metrics annotate their parameters with these names, and
`reproduction.planning.checks` holds values against them. The second part of a kind is a range,
``">= 0, < 1"``, or the words for what is expected. Numbers are finite.
"""

from typing import Annotated, Literal

# A number of things; at least one.
Count = Annotated[int, ">= 1"]
# A number of things, or none; also a place, counted from 0.
Natural = Annotated[int, ">= 0"]
# A number above zero.
Positive = Annotated[float, "> 0"]
# A number that may be zero, e.g. a standard deviation.
NonNegative = Annotated[float, ">= 0"]
# A share of a whole: up to all of it, but not nothing.
Share = Annotated[float, "> 0, <= 1"]
# A probability, from 0, never, to 1, always.
Probability = Annotated[float, ">= 0, <= 1"]
# Seed of random numbers, of 32 bits.
Seed = Annotated[int, ">= 0, <= 4294967295"]
# Linkage of groups of rows in a clustering, as scipy calls it.
Linkage = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward"]
# The order in which `pg2_greedy` takes equal features: one in `reproduction.recorded`, or indices,
# the same for all places or of each.
TieOrder = Literal["single", "bigger"] | list[Natural] | list[list[Natural]] | None
# One of the importances that the experiment computes.
ImportanceName = Annotated[str, "the name of an importance"]
# A file in reproduction/datasets.
DatasetName = Annotated[str, "the name of a data set"]
# Outcomes of the rows of a data set: their own, or each other's, dealt at random.
Outcome = Literal["observed", "permuted"]
