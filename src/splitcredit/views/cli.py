"""Run the command line: ``splitcredit COMMAND MODEL TABLE``, from files to files.

Each command calls the function of its name with what it reads from files. What a function refuses
ends in one line and the status 1, a wrong command line in one line and the status 2.
"""

from __future__ import annotations

import inspect
import json
import sys
import typing
import warnings
from functools import partial
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd

import splitcredit
from splitcredit import __version__, api
from splitcredit.api import _ranking
from splitcredit.api import interactions as shapley_interactions
from splitcredit.api import partial_dependence as dependence
from splitcredit.measures import _methods
from splitcredit.measures._calls import unknown
from splitcredit.models.formats import to_forest, unwrap
from splitcredit.results.plots.drawing import pyplot
from splitcredit.results.plots.kinds import KINDS
from splitcredit.results.progress_bar import bar
from splitcredit.rows.names import free
from splitcredit.views import command_files as files
from splitcredit.views import warm_up as compiling

# What a method may need, and how it is given.
_NEEDS = {
    "X": "rows: name a TABLE",
    "y": "the targets of the rows: --target COLUMN",
    "background": "rows that unknown features are taken from: --background FILE",
}


class _Commands(click.Group):
    """Commands whose errors and warnings are one line each."""

    def invoke(self, ctx):
        """Run the command; see `click.Group.invoke`."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda text, *_, **__: click.echo(f"Note: {text}", err=True)
                return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(error.format_message()) from None
        except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params["traceback"]:
                raise
            line = " ".join(str(error).split())
            if isinstance(error, OSError) and error.strerror:
                line = f"{error.filename}: {error.strerror}"
            raise click.ClickException(line or type(error).__name__) from None


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(__version__, prog_name="splitcredit")
@click.option("--traceback", is_flag=True, help="Show where in the code an error occurs.")
@click.pass_context
def cli(ctx, traceback):
    """Explain tree ensembles by importances and attributions, from files to files.

    MODEL is a file of XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.json, .cbm), scikit-learn
    by skops (.skops), or of `splitcredit convert` (.npz). TABLE is a file of CSV or parquet, or -
    for CSV from standard input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main():
    """Run the command that stands in the arguments of the process."""
    cli(prog_name="splitcredit")


def _command(example, *parameters, forms):
    """Make a function a command; it gets the arguments as attributes of one object."""

    def decorate(function):
        def run(**given):
            if forms:
                given["form"] = _format(given["out"], given["form"], forms)
            function(SimpleNamespace(**given))

        form = "By default from the ending of --out; without --out a table, or CSV in a pipe."
        output = [
            click.Option(["--out", "-o"], type=_FILE, help="The file to write."),
            click.Option(["--format", "form"], type=click.Choice(forms), help=form),
        ]
        command = click.Command(
            function.__name__.replace("_", "-"),
            callback=run,
            params=[*parameters, *(output if forms else [])],
            help=inspect.getdoc(function),
            epilog=f"\b\nExample:\n  splitcredit {example}",
        )
        cli.add_command(command)
        return command

    return decorate


def _method(function, default):
    def names(ctx, param, incomplete):
        known = (m.name for m in api.methods() if function in m.functions)
        return [name for name in known if name.startswith(incomplete)]

    text = f"See `splitcredit methods`; {default} if none is named."
    return click.Option(["--method"], default=default, help=text, shell_complete=names)


_FILE = click.Path(dir_okay=False, allow_dash=True)
_DATA = ("table", "csv", "parquet", "json")
_MODEL = (
    click.Argument(["model"], type=_FILE),
    click.Option(["--trust"], multiple=True, metavar="TYPE", help="Allow it in a .skops file."),
)
_TABLE = click.Argument(["table"], type=_FILE)
_TARGET = click.Option(["--target", "--y"], metavar="COLUMN", help="The targets of the rows.")
_WEIGHTS = click.Option(["--weights"], metavar="COLUMN", help="Weights of the rows.")
_ROWS = click.Option(["--rows"], type=click.IntRange(1), help="Number of rows to read.")
_BACKGROUND = click.Option(
    ["--background"], type=_FILE, help="A table of rows that unknown features are taken from."
)
_OUTPUT = click.Option(["--output"], help="Name or index of an output, predicted, or all.")
_PARAMETERS = click.Option(
    ["-p", "parameters"], multiple=True, metavar="NAME=VALUE", help="A parameter of the method."
)
_PROGRESS = click.Option(["--progress/--no-progress"], default=None, help="A bar of the rows done.")
_CHECK = click.Option(
    ["--check/--no-check"], default=True, help="Compare rows with the model's own prediction."
)
_NOISE = (
    click.Option(["--scale"], help="Of noise: a number, or 0.3std for 0.3 standard deviations."),
    click.Option(["--noise"], help="marginal (values of other rows), normal, laplace or uniform."),
)
_DATA_OF_ROWS = (*_MODEL, _TABLE, _TARGET, _ROWS, _OUTPUT, _BACKGROUND, _CHECK)
_OF_METHOD = (_PARAMETERS, _PROGRESS)


def _format(out, form, forms):
    """Return the format of the results; a usage error if it is unknown or needs a file."""
    if form is None and out is None:
        form = "table" if sys.stdout.isatty() else "csv"
    elif form is None:
        form = next((f for ending, f in files.FORMATS.items() if out.endswith(ending)), None)
    if form not in forms:
        raise click.UsageError(f"the ending of {out} is not in {', '.join(forms)}: pass --format")
    if out is None and form in ("parquet", "png", "html"):
        raise click.UsageError(f"--format {form} needs a file: --out FILE")
    if out is not None and form == "table":
        raise click.UsageError("--format table is for the terminal: --format csv writes a file")
    return form


def _opened(given, method=None, function=None):
    """Return the model, the tables of its rows, and the options of the method."""
    options = {} if method is None else _parameters(given, method, function)
    if not given.check:
        options["check_additivity"] = False
    model = files.model_of(given.model, given.trust)
    tables = files.Tables(model, given.target, getattr(given, "weights", None))
    if given.output is not None:
        try:
            names = to_forest(model).output_names
        except ValueError:  # CatBoost may explain it by itself, and other models are refused below
            names = ()
        options["output"] = _named(given.output, names)
    if given.background is not None:
        options["background"] = tables.whole(given.background, is_background=True)[0]
    return model, tables, options


def _named(text, names):
    """Return the index or name that a text stands for."""
    return int(text) if text.isdigit() and text not in names else text


def _rows_and_noise(given, tables, options) -> tuple:
    """Return rows, targets, and options with the noise, made of all rows of the table."""
    noise = {"noise": given.noise, "scale": given.scale}
    noise = {name: value for name, value in noise.items() if value is not None}
    has_unit, size = "std" in noise.get("scale", ""), noise.get("scale", "1").replace("std", "", 1)
    try:
        float(size)
    except ValueError:
        wanted = "a number, or one with std behind it"
        raise click.UsageError(f"--scale {given.scale}: expected {wanted}") from None
    if "scale" in noise and not has_unit:
        noise["scale"] = float(size)
    is_of_rows = _ranking.draws_rows(given.noise, noise.get("scale"))
    X, y = tables.whole(given.table, None if is_of_rows else given.rows)
    if is_of_rows and given.rows:
        noise["background"] = X
    return X[: given.rows], None if y is None else y[: given.rows], noise | options


def _parameters(given, method, function):
    """Return parameters of a method in its types; a usage error if one is missing."""
    found = _methods.look_up(method, function)
    taker = found.function("explain" if function == "rank" and found.attributes else function)
    data = {"X": given.table, "y": given.target, "background": given.background}
    for name, parameter in inspect.signature(taker).parameters.items():
        is_needed = parameter.default is inspect.Parameter.empty
        if is_needed and name in data and data[name] is None:
            raise click.UsageError(f"the method {method} needs {_NEEDS[name]}")
    return _typed_parameters(getattr(given, "parameters", ()), taker)


def _typed_parameters(pairs, taker):
    """Return values of ``-p NAME=VALUE`` in the types of the function's signature."""
    hints, parameters = _hints(taker), {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise click.UsageError(f"-p {pair}: expected NAME=VALUE")
        if name not in hints:
            raise TypeError(unknown(taker, name))
        parameters[name] = _typed(name, text, hints[name])
    return parameters


def _hints(function):
    """Return the type hints of a function's parameters, where arrays may be anything."""
    return typing.get_type_hints(function, localns={"ArrayLike": object, "Callable": object})


def _typed(name, text, hint):
    """Return the value of a parameter: text if its type is text, else parsed as JSON."""
    kinds = [hint, *typing.get_args(hint)]
    if str in kinds or any(typing.get_origin(kind) is typing.Literal for kind in kinds):
        return text
    try:
        value = json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        value = text
    if float in kinds and type(value) is int:
        value = float(value)
    types = [kind for kind in kinds if isinstance(kind, type)]
    if types and not isinstance(value, tuple(types)):
        names = " or ".join(kind.__name__ for kind in types if kind is not type(None))
        raise click.UsageError(f"-p {name}={text}: expected {names}")
    return value


def _targets(of_method, y):
    """Return the targets for a method that explains a loss."""
    return {"y": y} if y is not None and "y" in _methods.parameters_of(of_method.func) else {}


def _write_or_show(given, frame, note=""):
    if given.form == "table":
        files.show(frame, note)
    else:
        files.write([frame], given.out, given.form)


def _draw(given, plot, **options):
    with files.replacing(given.out) as partial:
        pyplot().switch_backend("Agg")
        plot(**options).figure.savefig(partial, dpi=150, format="png")


def _frame(attribution, start=0):
    """Return the attributions of rows with their baselines; the first is row `start`."""
    frame = attribution.to_frame()
    frame.isetitem(0, frame.iloc[:, 0] + start)
    n, _, k = attribution.values.shape
    baseline = np.broadcast_to(attribution.baseline, (n, k)).ravel()
    frame.insert(2, free("baseline", frame.columns), baseline)
    return frame


def _in_parts(given, model, tables, options):
    """Yield frames of attributions, a part of the table at a time."""
    start, check = 0, options.pop("check_additivity", True)
    of_method = _methods.call(given.method, "explain", **options)
    with bar(given.rows, given.progress) as advance:
        for X, y in tables.parts(given.table, given.rows):
            method = partial(of_method, **_targets(of_method, y))
            own = {"check_additivity": check, "progress": False}
            for piece in api.explain_chunks(model, X, method, **own):
                yield _frame(piece, start)
                start += len(piece.values)
                advance(len(piece.values))
            if isinstance(model, str):  # the first part has compared the options with its objective
                model = to_forest(model)


@_command(
    "explain model.skops rows.csv --output 0 --out rows.png",
    *(*_DATA_OF_ROWS, _method("explain", "tree_shap"), *_OF_METHOD),
    click.Option(["--kind"], type=click.Choice(KINDS), help="Kind of plot."),
    click.Option(["--row"], type=click.IntRange(0), help="Of a waterfall, force or decision plot."),
    click.Option(["--feature"], help="Feature of a scatter plot."),
    forms=(*_DATA, "png"),
)
def explain(given):
    """Divide predictions among the features.

    Each row of TABLE gets a value for each feature, which add up to the prediction. CSV and parquet
    are read and written a part at a time, so that a table may be larger than the memory. A plot
    has a dot for each row, or is of the --kind that is named.
    """
    model, tables, options = _opened(given, given.method, "explain")
    takes_parts = _methods.look_up(given.method, "explain").takes_any_rows
    if given.form in ("csv", "parquet") and takes_parts:
        files.write(_in_parts(given, model, tables, options), given.out, given.form)
        return
    X, y = tables.whole(given.table, given.rows)
    of_method = _methods.call(given.method, "explain", given.progress, **options)
    result = of_method(model, X, **_targets(of_method, y))
    if given.form == "png":
        feature = given.feature
        feature = None if feature is None else _named(feature, result.feature_names)
        _draw(given, result.plot, kind=given.kind, row=given.row, feature=feature)
        return
    frame = _frame(result)
    if given.form == "table":
        largest = np.argsort(-np.abs(result.values).mean(axis=(0, 2)), kind="stable")
        frame = frame.iloc[:, [0, 1, 2, *(largest + 3)]]
    _write_or_show(given, frame)


@_command(
    "importance model.skops rows.csv --target diagnosis --method ufi",
    *(*_MODEL, click.Argument(["table"], type=_FILE, required=False), _TARGET, _ROWS),
    *(_WEIGHTS, _OUTPUT, _BACKGROUND, _CHECK, _method("importance", "mdi"), *_OF_METHOD),
    forms=(*_DATA, "png"),
)
def importance(given):
    """Give one number to each feature.

    mdi needs no TABLE; methods by out-of-bag rows need the training rows in their order.
    """
    model, tables, options = _opened(given, given.method, "importance")
    X, y = (None, None) if given.table is None else tables.whole(given.table, given.rows)
    method = _methods.call(given.method, "importance", **options)
    weights = given.weights if given.table is None else tables.row_weights  # a name is refused
    own = {"sample_weight": weights, "progress": given.progress}
    result = api.importance(model, X, y, method, **own)
    if given.form == "png":
        _draw(given, result.plot)
    else:
        _write_or_show(given, result.to_frame())


@_command(
    "interactions model.skops rows.csv --output 0 --rows 20",
    *(*_DATA_OF_ROWS, click.Option(["--order"], default=2, help="Features in a set, usually 2.")),
    forms=_DATA,
)
def interactions(given):
    """Compute interactions of pairs of features.

    Shapley interaction values of each row of TABLE, exact.
    """
    model, tables, options = _opened(given)
    X, _ = tables.whole(given.table, given.rows)
    result = shapley_interactions.interactions(model, X, order=given.order, **options)
    _write_or_show(given, result.to_frame())


@_command(
    "partial-dependence model.skops rows.csv --feature 0 --output 0 --out curve.png",
    *(*_MODEL, _TABLE, _TARGET, _WEIGHTS, _ROWS, _OUTPUT, _CHECK),
    click.Option(["--feature"], multiple=True, required=True, help="Give it twice for a pair."),
    *_OF_METHOD,
    forms=(*_DATA, "png"),
)
def partial_dependence(given):
    """Compute how the prediction depends on a feature.

    The mean over the rows of TABLE, for each value on a grid. Parameters are such as -p kind=ale.
    """
    given.background = None
    model, tables, options = _opened(given)
    options |= _typed_parameters(given.parameters, dependence.partial_dependence)
    X, _ = tables.whole(given.table, given.rows)
    features = [_named(name, map(str, X.columns)) for name in given.feature]
    own = {"sample_weight": tables.row_weights, "progress": given.progress}
    result = dependence.partial_dependence(model, X, features, **own | options)
    if given.form == "png":
        _draw(given, result.plot)
    else:
        _write_or_show(given, result.to_frame())


@_command(
    "rank model.skops rows.csv --rows 20",
    *(*_DATA_OF_ROWS, _method("rank", "pg2_greedy"), *_NOISE, *_OF_METHOD),
    forms=_DATA,
)
def rank(given):
    """Rank the features for each row.

    The most important feature of each row of TABLE comes first.
    """
    model, tables, options = _opened(given, given.method, "rank")
    found, by = _methods.look_up(given.method, "rank"), given.method
    if found.name in _ranking.BY_GAPS:
        X, y, options = _rows_and_noise(given, tables, options)
    else:
        X, y = tables.whole(given.table, given.rows)
        by = _methods.call(by, "explain" if found.attributes else "importance", **options)
        options = {}
    result = api.rank(model, X, by, y=y, progress=given.progress, **options)
    _write_or_show(given, result.to_frame())


@_command(
    "faithfulness model.skops rows.csv --ranking tree_shap --rows 20",
    *_DATA_OF_ROWS,
    click.Option(["--ranking"], default="tree_shap", help="A method, or names such as age,dose."),
    click.Option(["--metric"], default="pgi2", help=", ".join(_ranking.METRICS)),
    click.Option(["--k"], type=int, help="For pg2: number of perturbed features."),
    *(*_NOISE, _PROGRESS),
    forms=_DATA,
)
def faithfulness(given):
    """Measure whether a ranking is faithful.

    How far the predictions of TABLE move if the first features of a ranking are perturbed.
    """
    is_method = given.ranking in (*(m.name for m in api.methods()), *_methods.PRESETS)
    ranking = given.ranking if is_method else given.ranking.split(",")
    model, tables, options = _opened(given, ranking if is_method else None, "rank")
    X, y, options = _rows_and_noise(given, tables, options)
    options |= {"y": y, "k": given.k, "progress": given.progress}
    values = api.faithfulness(model, X, ranking, given.metric, **options)
    columns = [given.metric] if values.ndim == 1 else [f"{j + 1}" for j in range(values.shape[1])]
    frame = pd.DataFrame(values.reshape(len(values), -1), columns=columns)
    frame.insert(0, "sample", range(len(frame)))
    _write_or_show(given, frame, f"mean over {len(values)} rows: {values.mean():.6g}")


@_command(
    "audit model.skops rows.csv --target diagnosis --out report.html",
    *(*_MODEL, _TABLE, _TARGET, _WEIGHTS, _ROWS),
    click.Option(["--test"], type=_FILE, help="A table of rows that the model has not seen."),
    forms=(*_DATA, "html"),
)
def audit(given):
    """Tell whether importances can be used, and what to look at first.

    TABLE has the training rows of MODEL, and their targets.
    """
    if given.target is None:
        raise click.UsageError(f"an audit needs {_NEEDS['y']}")
    model = files.model_of(given.model, given.trust)
    tables = files.Tables(model, given.target, given.weights)
    X, y = tables.whole(given.table, given.rows)
    data = {"sample_weight": tables.row_weights}
    if given.test is not None:
        data["X_test"], data["y_test"] = tables.whole(given.test)
        data["sample_weight_test"] = tables.row_weights
    result = splitcredit.audit(model, X, y, **data)
    if given.form == "html":
        result.to_html(given.out)
    elif given.form == "json":
        with click.open_file(given.out or "-", "w") as file:
            file.write(f"{result.to_json()}\n")
    else:
        _write_or_show(given, result.to_frame(), result.verdict)


@_command(
    "convert model.skops --out model.npz",
    *(*_MODEL, click.Option(["--out", "-o"], type=_FILE, required=True, help="An .npz file.")),
    forms=(),
)
def convert(given):
    """Write MODEL as an .npz file of arrays.

    Every command reads it without the library that grew the model.
    """
    model = files.model_of(given.model, given.trust)
    if unwrap(model)[1].pipelines:
        raise ValueError(f"{given.model} is a pipeline: convert its last step, the model of trees")
    forest = to_forest(model)
    with files.replacing(given.out) as partial, open(partial, "wb") as file:
        np.savez_compressed(file, **forest.to_arrays())
    click.echo(f"{given.out}: {forest}", err=True)


@_command("methods", forms=_DATA)
def methods(given):
    """List all methods, and what they need."""
    table = api.methods()
    if given.form == "table":
        click.echo(repr(table))
    else:
        _write_or_show(given, table.to_frame())


@_command(
    "warm-up --processes 2",
    click.Option(["--processes"], type=click.IntRange(1), default=1, help="How many share it."),
    forms=(),
)
def warm_up(given):
    """Compile all code for this processor.

    Later processes load it, so that no call waits for the compiler. It takes some minutes.
    """
    compiling.warm_up(given.processes)
