"""Several methods on the same graphs, and how far graphs are from each other."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from . import _grm
from ._classifier import Classifier, make_task
from ._datasets import Dataset, data_root
from ._errors import ConfigError
from ._inputs import Collected, is_path


def compare(methods: Sequence[Any], train: Any, validation: Any = None, test: Any = None, *,
            seeds: int = 3, first_seed: int = 1000, against: Optional[str] = None,
            metric: Optional[str] = None, device: str = "auto", **options: Any) -> Any:
    """Trains every method with every seed and compares the test scores, in percent.

    Methods are names (`grm:best`) or `Classifier`s, whose seeds are replaced. The table has a row for
    each method: mean and deviation (n - 1) over the seeds of each test domain, of their average and of
    the worst, and the paired t-test of the averages against the method `against` (the first by default).
    `options` go to the methods that have them. The runs themselves are in `table.attrs["runs"]`.

    >>> import grm
    >>> data = grm.datasets.sbm(nodes=200)
    >>> table = grm.compare(["erm", "mmd:fast"], data, seeds=2, epochs=5, hidden=8)
    >>> list(table.index), "p" in table.columns
    (['erm', 'mmd:fast'], True)
    """
    import pandas as pd

    models = [m if isinstance(m, Classifier) else
              Classifier(m, device=device, metric=metric, **_known(m, options)) for m in methods]
    names = [m if isinstance(m, str) else repr(m) for m in methods]
    if not names:
        raise ConfigError("there is no method to compare")
    if not is_path(train) and not isinstance(train, Dataset) and test is None:
        raise ConfigError("compare needs test graphs: compare(methods, train, validation, test)")
    runs = []
    for name, model in zip(names, models):
        for seed in range(first_seed, first_seed + seeds):
            one = Classifier(**{**model.get_params(), "seed": seed}).fit(train, validation, test)
            chosen = one.record_["selected"] if "selected" in one.record_ else _chosen(one)
            scores = {each["domain"]: each["value"] for each in chosen["test"]}
            runs.append({"method": name, "seed": seed, "validation": chosen["validation"], **scores,
                         "average": float(np.mean(list(scores.values()))),
                         "worst": min(scores.values()), "epoch": chosen["epoch"],
                         "seconds per epoch": one.record_["seconds_per_epoch"]})
    raw = pd.DataFrame(runs)
    reference = against or names[0]
    if reference not in names:
        raise ConfigError(f"'{reference}' is none of the methods compared: {', '.join(names)}")
    rows = []
    for name in names:
        own = raw[raw["method"] == name]
        row: Dict[str, Any] = {"method": name, "seeds": len(own)}
        for column in raw.columns:
            if column in ("method", "seed"):
                continue
            row[column] = own[column].mean()
            if column not in ("epoch", "seconds per epoch"):
                row[f"{column} ±"] = own[column].std(ddof=1) if len(own) > 1 else float("nan")
        pairs = list(zip(own["average"], raw[raw["method"] == reference]["average"]))
        tested = _grm.paired_t_test(pairs)
        row["difference"] = tested["difference"]
        row["p"] = float("nan") if name == reference or tested["p"] is None else tested["p"]
        rows.append(row)
    table = pd.DataFrame(rows).set_index("method")
    table.attrs["runs"] = raw
    table.attrs["against"] = reference
    return table


def _chosen(model: Classifier) -> Dict[str, Any]:
    selection = _grm.config_sections(model.about_["config"])["train"].get("selection", "val")
    return model.record_["chosen"][selection]


def _known(method: str, options: Dict[str, Any]) -> Dict[str, Any]:
    from ._options import options as table_of

    known = set(table_of(method).index)
    return {k: v for k, v in options.items() if k in known or "__" in k}


class Shift:
    """How far other graphs are from the training graphs: `table`, `verdict`, `text` and `advice`."""

    def __init__(self, found: Dict[str, Any]) -> None:
        self.training: Dict[str, Any] = found["training"]
        self.domains: List[Dict[str, Any]] = found["domains"]
        self.verdict: str = found["verdict"]
        self.text: str = found["text"]
        self.advice: List[str] = found["advice"]

    @property
    def table(self) -> Any:
        """One row for each graph: every measure, and the verdict."""
        import pandas as pd

        rows = [{"domain": d["domain"], "role": d["role"], "items": d["items"],
                 **{what: m[0] for what, m in d["measures"].items()}, "verdict": d["verdict"]}
                for d in self.domains]
        return pd.DataFrame(rows).set_index("domain")

    def __repr__(self) -> str:
        return f"<grm.Shift {self.verdict}: {self.text}>"


def shift(train: Any, test: Any = None, seed: int = 0) -> Shift:
    """Measures the shift from training graphs to others, labelled or not (docs/shift.md).

    >>> import grm
    >>> grm.shift(grm.datasets.sbm(nodes=200)).verdict in ("none", "mild", "strong")
    True
    """
    if is_path(train):
        train = Dataset(os.fspath(train))
    if isinstance(train, Dataset):
        if test is None:
            return Shift(_grm.shift(train.task, seed))
        train = train.train
    if test is None:
        raise ConfigError("shift needs something to compare with: shift(train, test)")
    roles = {"train": Collected(train, None), "test": Collected(test, None)}
    names = sorted(roles["train"].texts() | roles["test"].texts())
    graphs = {role: c.build(role, names) for role, c in roles.items()}
    largest = max([int(g.y.max()) for many in graphs.values() for g in many] + [1])
    task = _grm.make_task(graphs["train"], [], graphs["test"], len(names) or largest + 1, "accuracy",
                          names, roles["train"].feature_names())
    return Shift(_grm.shift(task, seed))


class Study:
    """A study of the program: datasets x methods x seeds, with a database of results."""

    def __init__(self, file_or_name: str, db: str = "results.db", out: str = "runs") -> None:
        self.spec = _grm.load_spec(os.fspath(file_or_name))
        self.db = db
        self.out = out

    @property
    def name(self) -> str:
        return self.spec.name

    def cells(self) -> Any:
        """What would be run."""
        import pandas as pd

        return pd.DataFrame(self.spec.cells(), columns=["dataset", "method", "variant", "seed"])

    def run(self, jobs: int = 0, threads: int = 0, root: Optional[str] = None) -> "Study":
        """Runs all cells that are not done, each in a process of its own; the same call resumes it."""
        with tempfile.TemporaryDirectory(prefix="grm-") as folder:
            program = os.path.join(folder, "cell")
            path = os.pathsep.join([os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                    os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nPYTHONPATH='{path}' exec '{sys.executable}' -m grm._cell \"$@\"\n")
            os.chmod(program, stat.S_IRWXU)
            done = _grm.run_study(self.spec, self.db, self.out, data_root(root), program, jobs, threads)
        self.failed = done["failed"]
        return self

    def table(self, against: str = "erm") -> Any:
        """Results as a pandas table: average and worst test score with deviations, and p of the paired test."""
        import pandas as pd

        rows = []
        for cell in _grm.study_table(self.db, self.name, against):
            row = {k: cell[k] for k in ("dataset", "variant", "method", "metric", "runs")}
            for key in ("avg", "min", "validation"):
                row[key], row[f"{key} ±"] = cell[key]
            row["difference"], row["p"] = cell["difference"], cell["p"]
            rows.append({**row, **{name: value[0] for name, value in cell["domains"].items()}})
        return pd.DataFrame(rows)


def study(file_or_name: str, db: str = "results.db", out: str = "runs") -> Study:
    """A study by its TOML file or the name of a ready one: `grm.study("my.toml").run().table()`."""
    return Study(file_or_name, db, out)


__all__ = ["compare", "shift", "study", "Shift", "Study", "make_task"]
