"""The jobs of a batch of one run, called as the workflow calls them."""

import json
from argparse import Namespace

from reproduction import storage
from reproduction.stages import data_and_models, importances, metrics
from splitcredit.results import attribution


class Batch:
    """One run of a model on data, in a folder of its own."""

    def __init__(self, folder, data, model, repeat=0):
        self.folder = folder
        self.run = {"key": "r", "data_key": "d", "model": model, "repeat": repeat}
        self.files = {name: folder / f"{name}.npz" for name in ("data", "models")}
        self.files["plan"] = folder / "plan.json"
        storage.write_json(self.files["plan"], [self.run])
        self.data = data
        storage.write_bundle(self.files["data"], {"d": data})

    def fit(self):
        model = data_and_models.fitted(self.run["model"], self.data, self.run["repeat"])
        self.write(model)
        return self

    def write(self, model):
        """Take this model, a Forest or a CrossFitted, for the fitted one."""
        storage.write_bundle(self.files["models"], {"r": model})

    def explained(self, file="found", **recipe):
        """The importance of a recipe, which a metric finds under the name of the file."""
        recipes = storage.pack({file: recipe})
        importances.run(Namespace(**self.files, recipes=recipes, out=self.folder))
        return storage.read_bundle(self.folder / f"{file}.npz", attribution)["r"]

    def measured(self, names=(), **recipe):
        """The table of a metric; importances are files of the folder."""
        recipes = storage.pack(json.dumps({"found": [recipe, {n: n for n in names}]}))
        is_fitted = self.files["models"].exists()
        files = {**self.files, "models": self.files["models"] if is_fitted else None}
        out = self.folder / "batch"
        metrics.run(Namespace(**files, importances=self.folder, recipes=recipes, out=out))
        return storage.read_table(self.folder / "batch" / "found.csv")
