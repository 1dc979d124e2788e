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
    for name, p_one in PROBABILITY_OF_ONE.items():
        p_one = np.array(p_one)
        joint = theory.JointDistribution(np.stack([1 - p_one, p_one], axis=-1) / 4)
        rows[f"I({name};X1)"] = theory.information(joint, 0)
        rows[f"I({name};X2)"] = theory.information(joint, 1)
        rows[f"I({name};X1|X2)"] = theory.information(joint, 0, (1,))
        rows[f"I({name};X2|X1)"] = theory.information(joint, 1, (0,))
        importances = {
            "K2": theory.mdi_best_split(joint),
            "K1": theory.mdi_totally_randomized(joint),
        }
        for k, values in importances.items():
            for j, value in enumerate(values, start=1):
                rows[f"Imp_{k}_{name}(X{j})"] = value
    return pd.DataFrame({"quantity": rows.keys(), "value": rows.values()})
