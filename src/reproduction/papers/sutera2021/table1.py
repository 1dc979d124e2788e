"""Table 1, Example 1: with K > 1, strong monotonicity can fail."""

import numpy as np
import pandas as pd

from reproduction import theory

# P(Y = 1 | X1, X2) of the two outputs, by X1 and X2; the four inputs are equally likely.
PROBABILITY_OF_ONE = {
    "Y1": [[0.1, 0.5], [0.9, 0.4]],
    "Y2": [[0.1, 0.8], [0.7, 0.3]],
}


def compute(inputs) -> pd.DataFrame:
    """Informations and importances of both outputs, in bits.

    ``Imp_K2`` is the single tree that K = 2 grows, ``Imp_K1`` the limit of totally randomized
    trees (not printed), for which monotonicity holds.
    """
    rows = {}
    for name, joint in joints().items():
        rows[f"I({name};X1)"] = theory.information(joint, 0)
        rows[f"I({name};X2)"] = theory.information(joint, 1)
        rows[f"I({name};X1|X2)"] = theory.information(joint, 0, (1,))
        rows[f"I({name};X2|X1)"] = theory.information(joint, 1, (0,))
        for k, mdi in (("K2", theory.mdi_best_split), ("K1", theory.mdi_totally_randomized)):
            for j, value in enumerate(mdi(joint), start=1):
                rows[f"Imp_{k}_{name}(X{j})"] = value
    return pd.DataFrame({"quantity": rows.keys(), "value": rows.values()})


def joints() -> dict[str, theory.JointDistribution]:
    """The distribution of each output with the inputs."""
    tables = {
        name: np.stack([1 - np.array(p), np.array(p)], axis=-1) / 4
        for name, p in PROBABILITY_OF_ONE.items()
    }
    return {name: theory.JointDistribution(table) for name, table in tables.items()}
