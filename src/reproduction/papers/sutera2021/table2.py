"""Table 2, Example 2: a local importance can be negative."""

import pandas as pd

from reproduction import theory


def compute(inputs) -> pd.DataFrame:
    """Probabilities, entropies and local importances (bits) of one binary input and output."""
    joint = theory.JointDistribution([[0.25, 0.25], [0.5, 0.0]])  # by X1, then Y
    y = joint.given({})
    rows = {
        "P(Y=0)": y[0],
        "P(Y=1)": y[1],
        "H(Y)": theory.entropy(y),
        "H(Y|X1=0)": theory.entropy(joint.given({0: 0})),
        "H(Y|X1=1)": theory.entropy(joint.given({0: 1})),
        "Imp(X1,0)": theory.local_mdi_totally_randomized(joint, (0,))[0],
        "Imp(X1,1)": theory.local_mdi_totally_randomized(joint, (1,))[0],
    }
    return pd.DataFrame({"quantity": rows.keys(), "value": rows.values()})
