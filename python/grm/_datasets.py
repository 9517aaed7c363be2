"""The datasets of the program, by name, and folders of own data."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from . import _grm
from ._options import text_of

Graph = _grm.Graph


def data_root(root: Optional[str] = None) -> str:
    """The folder of the published files: `root`, else $GRM_DATA."""
    return os.fspath(root) if root is not None else os.environ.get("GRM_DATA", "")


class Dataset:
    """Training, validation and test graphs of a dataset; read when they are first asked for.

    >>> data = Dataset("sbm", nodes=200)
    >>> data.classes, len(data.train), data.train[0].num_nodes
    (10, 1, 200)
    """

    def __init__(self, name: str, root: Optional[str] = None, allow_missing: bool = False,
                 **options: Any) -> None:
        self.name = name
        self.root = root
        self.allow_missing = allow_missing
        self.options = {f"dataset__{key}": value for key, value in options.items()}
        self._task: Optional["_grm.Task"] = None
        self._loaded = ""

    def _load(self, config: "_grm.Config") -> "_grm.Task":
        key = repr(config.dataset_options())
        if self._task is None or self._loaded != key:
            self._task = config.load(data_root(self.root), self.allow_missing)
            self._loaded = key
        return self._task

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_task": None}  # read again where it is unpickled

    @property
    def task(self) -> "_grm.Task":
        config = _grm.Config(self.name, "erm", "")
        for key, value in self.options.items():
            config.set("dataset." + key[len("dataset__"):], text_of(value))
        return self._load(config)

    @property
    def train(self) -> List[Graph]:
        return self.task.train

    @property
    def validation(self) -> List[Graph]:
        return self.task.validation

    @property
    def test(self) -> List[Graph]:
        return self.task.test

    @property
    def classes(self) -> int:
        return self.task.classes

    @property
    def metric(self) -> str:
        return self.task.metric

    @property
    def level(self) -> str:
        return self.task.level

    def __repr__(self) -> str:
        options = "".join(f", {k[len('dataset__'):]}={v!r}" for k, v in self.options.items())
        return f"Dataset({self.name!r}{options})"


class Datasets:
    """One function for each dataset of the program: `grm.datasets.twitch(root)`.

    >>> import grm
    >>> "sbm" in grm.datasets.names()
    True
    """

    def names(self) -> List[str]:
        """All names; cora_mix stands for cora-mix."""
        return [row[0] for row in _grm.dataset_table()]

    def table(self) -> Any:
        """Names, levels, what they are and where their files come from, as a pandas table."""
        import pandas as pd

        rows = pd.DataFrame(_grm.dataset_table(), columns=["name", "level", "summary", "source"])
        return rows.set_index("name")

    def own(self, path: str, allow_missing: bool = False) -> Dataset:
        """A folder of own data (docs/data.md)."""
        return Dataset(os.fspath(path), allow_missing=allow_missing)

    def __getattr__(self, name: str) -> Any:
        word = name.replace("_", "-")
        if word not in self.names():
            raise AttributeError(f"there is no dataset '{name}'; there are {', '.join(self.names())}")

        def make(root: Optional[str] = None, allow_missing: bool = False, **options: Any) -> Dataset:
            return Dataset(word, root, allow_missing, **options)

        make.__name__ = name
        return make

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(n.replace("-", "_") for n in self.names())]


datasets = Datasets()
