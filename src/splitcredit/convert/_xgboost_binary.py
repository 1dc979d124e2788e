"""Reader of the binary files that XGBoost wrote before 3.1, into the form of its JSON documents.

All numbers are little-endian, and texts and lists give their length in 8 bytes. A file has a head
of 136 bytes, the names of objective and booster, a head of 160 bytes of the trees, and for each
tree one of 148, 20 bytes for each node and 16 for what the training knew of it.
"""

from __future__ import annotations

import struct

import numpy as np

_HEAD = struct.Struct("<fIiiiIII104x")
_TREES = struct.Struct("<iiii8xii128x")
_TREE = struct.Struct("<iiiiii124x")
_NODE = np.dtype(
    [("parent", "<i4"), ("left", "<i4"), ("right", "<i4"), ("split", "<u4"), ("value", "<f4")]
)
_KNOWN = np.dtype([("gain", "<f4"), ("hessian", "<f4"), ("weight", "<f4"), ("leaves", "<i4")])
_DEFAULT_LEFT = np.uint32(1 << 31)
_LONGEST_NAME = 64


def is_model(raw: bytes) -> bool:
    """Whether bytes begin as such a file does, which has no mark of its own."""
    try:
        booster = _names(raw, _start(raw) + _HEAD.size)[1]
    except (ValueError, struct.error):
        return False
    return booster in ("gbtree", "dart", "gblinear")


def read(raw: bytes) -> dict:
    """The document that XGBoost would write as JSON, as far as the converter reads it.

    ValueError if the file ends too early.
    """
    try:
        return _document(raw)
    except (ValueError, struct.error):
        raise ValueError("this XGBoost model is incomplete: save it again") from None


def _document(raw):
    head = _HEAD.unpack_from(raw, _start(raw))
    base, n_features, n_classes, _, _, major, _, n_targets = head
    objective, booster, at = _names(raw, _start(raw) + _HEAD.size)
    learner = {
        "objective": {"name": objective},
        "gradient_booster": {"name": booster},
        "learner_model_param": {
            "base_score": repr(float(base)),
            "num_feature": str(n_features),
            "num_class": str(n_classes),
            "num_target": str(max(n_targets, 1) if major >= 1 else 1),
        },
        # Before XGBoost 1.0 the base score is kept as it is added to the trees.
        "base_is_margin": major < 1,
    }
    if booster == "gblinear":  # which the converter refuses by its name
        return {"learner": learner}
    n_trees = _TREES.unpack_from(raw, at)[0]
    at += _TREES.size
    trees = []
    for _ in range(n_trees):
        tree, at = _tree(raw, at)
        trees.append(tree)
    info = _array(raw, at, np.dtype("<i4"), n_trees)
    at += info.nbytes
    learner["gradient_booster"]["model"] = {"trees": trees, "tree_info": info}
    if booster == "dart":
        weights = _array(raw, at + 8, np.dtype("<f4"), n_trees)
        learner["gradient_booster"]["weight_drop"] = weights.tolist()
    return {"learner": learner}


def _start(raw):
    return 4 if raw.startswith(b"binf") else 0


def _names(raw, at):
    names = []
    for _ in range(2):
        (length,) = struct.unpack_from("<Q", raw, at)
        at += 8
        if length > min(_LONGEST_NAME, len(raw) - at):
            raise ValueError("no name")
        names.append(raw[at : at + length].decode("ascii"))
        at += length
    return *names, at


def _tree(raw, at):
    n_nodes, size = _TREE.unpack_from(raw, at)[1:6:4]
    at += _TREE.size
    nodes = _array(raw, at, _NODE, n_nodes)
    at += nodes.nbytes
    known = _array(raw, at, _KNOWN, n_nodes)
    at += known.nbytes
    return {
        "tree_param": {"size_leaf_vector": str(size)},
        "left_children": nodes["left"].tolist(),
        "right_children": nodes["right"].tolist(),
        "split_indices": (nodes["split"] & ~_DEFAULT_LEFT).astype(np.int32).tolist(),
        "split_conditions": nodes["value"].tolist(),
        "default_left": (nodes["split"] & _DEFAULT_LEFT != 0).tolist(),
        "sum_hessian": known["hessian"].tolist(),
        "loss_changes": known["gain"].tolist(),
    }, at


def _array(raw, at, dtype, n):
    if n < 0:
        raise ValueError("no number of things")
    return np.frombuffer(raw, dtype, n, at)
