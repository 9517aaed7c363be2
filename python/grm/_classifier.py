"""grm.Classifier: every method of the program in the habits of scikit-learn."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np
import torch

from . import _grm
from ._datasets import Dataset, data_root
from ._errors import ConfigError, DataError, Interrupted, ShapeError
from ._explanation import Explanation
from ._inputs import Collected, Graph, Parts, is_path, labels, make_graph_set, make_node_graph, parts_of
from ._inputs import is_one_graph
from ._network import ROLES, Networks, own_options
from ._options import make_config, split_spec

VALIDATION_SHARE = 0.2
MEMORY = "/dev/shm"


@dataclass
class Epoch:
    """What a callback is told after each epoch. Scores are percent."""

    epoch: int
    epochs: int
    loss: Dict[str, float]
    evaluated: bool
    validation: float
    best_validation: float


@dataclass
class Uncertainty:
    """How sure the model is of each item.

    `entropy` of the class probabilities, in nats; `spread`: deviation of the probability of the
    predicted class over the samples of the method's latent variable, None if it draws none.
    """

    entropy: np.ndarray
    spread: Optional[np.ndarray]


Callback = Callable[[Epoch], Any]
_NAMED = ("method", "seed", "device", "metric", "target") + ROLES


class Classifier:
    """A classifier of nodes or graphs that is meant to hold up on domains never seen in training.

    `method` is a name or name:preset (`grm.methods()`), `options` are those of `grm.options(method)`:
    ``Classifier("grm:best", epochs=100, lr=0.01)``. Where a name is ambiguous, write the section:
    ``train__test="never"``. `metric` and `target` ("class", "multi-label", "regression"; docs/targets.md)
    are for data handed over as arrays.
    `backbone`, `encoder` or `classifier` is a torch.nn.Module of your own, see docs/python.md.

    >>> import grm
    >>> data = grm.datasets.sbm(nodes=300)
    >>> model = grm.Classifier("erm", epochs=20, hidden=16).fit(data)
    >>> model.predict_proba(data.test[0]).shape
    (300, 10)
    >>> 0.0 <= model.score(data.test[0]) <= 1.0
    True
    """

    _estimator_type = "classifier"

    def __init__(self, method: str = "grm:best", seed: int = 0, device: str = "auto", *,
                 metric: Optional[str] = None, backbone: Optional[torch.nn.Module] = None,
                 encoder: Optional[torch.nn.Module] = None,
                 classifier: Optional[torch.nn.Module] = None, target: str = "class",
                 **options: Any) -> None:
        self.method = method
        self.seed = seed
        self.device = device
        self.metric = metric
        self.backbone = backbone
        self.encoder = encoder
        self.classifier = classifier
        self.target = target
        self._options = dict(options)

    # --- parameters, as scikit-learn asks for them ------------------------------------------------

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """All arguments of the constructor; `sklearn.base.clone` uses it."""
        named = {k: getattr(self, k) for k in _NAMED}
        return {**named, **self._options}

    def set_params(self, **params: Any) -> "Classifier":
        """Sets arguments of the constructor."""
        for key, value in params.items():
            if key in _NAMED:
                setattr(self, key, value)
            else:
                self._options[key] = value
        return self

    def __repr__(self) -> str:
        options = "".join(f", {k}={v!r}" for k, v in self._options.items())
        return f"Classifier({self.method!r}, seed={self.seed}{options})"

    def config(self, dataset: str = "") -> str:
        """The configuration as the program's config.toml."""
        return self._config(dataset or _grm.memory_name(self._level())).to_toml(self.seed)

    def _level(self) -> str:
        levels = [row[2] for row in _grm.method_table() if row[0] == split_spec(self.method)[0]]
        return levels[0] if levels else "node"

    def _config(self, dataset: str, own: Optional[Dict[str, Any]] = None) -> "_grm.Config":
        options = {**(own or {}), **self._options}
        given = self._given()
        if given:
            plain = make_config(dataset, self.method, "cpu", {})
            options.update(own_options(plain, self.method, given))
        return make_config(dataset, self.method, self.device, options)

    def _given(self) -> Dict[str, torch.nn.Module]:
        return {role: getattr(self, role) for role in ROLES if getattr(self, role) is not None}

    def _networks(self) -> Optional[Networks]:
        given = self._given()
        return Networks(given) if given else None

    # --- training ---------------------------------------------------------------------------------

    def fit(self, train: Any, validation: Any = None, test: Any = None, *, progress: bool = False,
            callbacks: Union[Callback, Sequence[Callback]] = (), out: Optional[str] = None,
            resume: bool = False, level: Optional[str] = None, data_root: Optional[str] = None,
            allow_missing: bool = False) -> "Classifier":
        """Trains on one or several graphs; `validation` chooses the epoch that is kept.

        `train`, `validation` and `test` are graphs or lists of them (docs/python.md names all kinds);
        or `train` is a `grm.Dataset`, its name, or a folder of own data, and brings the other two.
        Without validation a graph's val_mask serves, else a fifth of the labelled items of training.
        `callbacks` are called with an `Epoch` each and stop training where one answers True. `out` is a
        folder for the files of runs, as the program's --out; with `resume` a stopped run goes on.
        Ctrl-C raises `grm.Interrupted` after writing a checkpoint.
        """
        config, task = self._task(train, validation, test, level, data_root, allow_missing,
                                  signed=out is not None or resume)
        watch = _watcher(progress, [callbacks] if callable(callbacks) else list(callbacks))
        if torch.get_num_threads() != _grm.threads():
            _grm.set_threads(_grm.threads())
        root = out or tempfile.mkdtemp(prefix="grm-", dir=_passing_folder())
        keep = out is not None
        try:
            folder = _grm.find_run_folder(root, config, self.seed, task) if resume else ""
            folder = folder or _grm.create_run_folder(root, config, self.seed)
            with _CtrlC() as keys:
                record, stopped = _grm.fit(config, task, self.seed, folder, watch, keys.pressed,
                                           self._networks())
            if stopped:
                keep = True
                raise Interrupted(f"stopped; a checkpoint is in {stopped}: fit(..., out={root!r}, "
                                  "resume=True) goes on", stopped)
            self._take(os.path.join(folder, "model.safetensors"))
            self.record_ = json.loads(record)
            self.history_ = _history(os.path.join(folder, "metrics.jsonl"))
            self.run_folder_ = folder if keep else None
        finally:
            if not keep:
                shutil.rmtree(root, ignore_errors=True)
        return self

    def _task(self, train: Any, validation: Any, test: Any, level: Optional[str],
              root: Optional[str], allow_missing: bool, signed: bool) -> Any:
        if is_path(train) or isinstance(train, Dataset):
            if validation is not None or test is not None:
                raise ConfigError("a dataset brings its own validation and test graphs; to choose "
                                  "others, hand over its graphs: fit(data.train, ...)")
            if is_path(train):
                train = Dataset(os.fspath(train), root=root, allow_missing=allow_missing)
            config = self._config(train.name, train.options)
            return config, train._load(config)
        task = make_task(train, validation, test, level, self.metric, self.seed, self.target)
        config = self._config(_grm.memory_name(task.level))
        task = config.take(task)
        if signed:
            task.sign()
        return config, task

    def _take(self, path: str) -> None:
        with open(path, "rb") as file:
            self._bytes = file.read()
        self._open(path)

    def _open(self, path: str) -> None:
        self._network = self._networks()
        self._model = _grm.Model(path, _grm.resolve_device(self.device), self._network)
        self.about_ = self._model.about()
        names = self.about_["label_names"]
        self.classes_ = np.array(names) if names else np.arange(self.about_["classes"])
        self.n_features_in_ = self.about_["features"]

    @property
    def network_(self) -> torch.nn.Module:
        """The trained copy of the network that was handed over, of several the first one."""
        return next(iter(self.networks_.values()))

    @property
    def networks_(self) -> Dict[str, torch.nn.Module]:
        """The trained copies of the networks by what they are: backbone, encoder, classifier."""
        self._fitted()
        if self._network is None:
            raise ConfigError("the model has no network of the user's own")
        return {role: adapter.module for role, adapter in self._network.adapters.items()}

    # --- what a trained model says ----------------------------------------------------------------

    def _fitted(self) -> "_grm.Model":
        if getattr(self, "_bytes", None) is None:
            raise ConfigError("the model is not trained yet: call fit() first, or grm.load()")
        if getattr(self, "_model", None) is None:  # after unpickling
            with tempfile.TemporaryDirectory(prefix="grm-", dir=_passing_folder()) as folder:
                path = os.path.join(folder, "model.safetensors")
                with open(path, "wb") as file:
                    file.write(self._bytes)
                self._open(path)
        return self._model

    def _graph(self, data: Any, role: str = "") -> Graph:
        self._fitted()
        if isinstance(data, Graph):
            return data
        names = self.about_["label_names"]
        if self.about_["level"] == "graph":
            many = [parts_of(data)] if is_one_graph(data) else [parts_of(g) for g in data]
            return make_graph_set(many, "graphs", names, self.about_["edge_features"] > 0,
                                  self.about_["target"])
        return make_node_graph(parts_of(data), "graph", role, names, self.about_["target"],
                               self.about_["edge_features"] > 0)

    def _each(self, data: Any, answer: Callable[[Graph], Any], role: str = "") -> Any:
        if isinstance(data, Dataset):
            data = data.test
        if is_path(data):
            domains = self._fitted().read(os.fspath(data), _root())
            return {graph.name: answer(graph) for graph in domains}
        several = isinstance(data, list) and (self._fitted() and self.about_["level"] == "node"
                                              or all(isinstance(g, Graph) for g in data))
        if several:
            return [answer(self._graph(g, role)) for g in data]
        return answer(self._graph(data, role))

    def predict(self, data: Any) -> Any:
        """The most probable class of each item; lists of graphs give lists, folders a dict by domain.

        Of multi-label targets 0 or 1 for each task, of a regression the numbers: [items, tasks].
        """

        def of(graph: Graph) -> np.ndarray:
            logits, classes, _, _, _, values = self._fitted().predict(graph, None)
            if values is not None:
                return values.numpy()
            return (logits > 0).long().numpy() if classes is None else self.classes_[classes.numpy()]

        return self._each(data, of)

    def predict_proba(self, data: Any) -> Any:
        """Class probabilities [items, classes], calibrated on validation; of multi-label targets those of
        a yes to each task."""
        self._fitted()
        if self.about_["target"] == "regression":
            raise ConfigError("a regression has no probabilities; predict() gives its numbers")
        return self._each(data, lambda g: self._fitted().predict(g, None)[2].numpy())

    def logits(self, data: Any) -> Any:
        """Logits [items, classes] as a tensor, before calibration."""
        return self._each(data, lambda g: self._fitted().predict(g, None)[0])

    def uncertainty(self, data: Any) -> Any:
        """Entropy, and the spread over the method's samples where it draws some."""

        def of(graph: Graph) -> Uncertainty:
            _, _, _, spread, entropy, values = self._fitted().predict(graph, None)
            if values is not None:
                raise ConfigError("a regression has no entropy; its numbers are all that it says")
            return Uncertainty(entropy.numpy(), None if spread is None else spread.numpy())

        return self._each(data, of)

    def score(self, data: Any, y: Any = None) -> float:
        """The metric of the labelled items, 0 to 1 (test_mask chooses among them where there is one);
        rmse and mae are in the units of the targets, and less is better.

        With several graphs, the mean of theirs.
        """

        def of(graph: Graph) -> float:
            logits, _, _, _, _, values = self._fitted().predict(graph, None)
            outputs = logits if values is None else values
            truth = graph.y if y is None else labels(y, self.about_["label_names"], self.about_["target"])
            known = truth >= 0 if truth.dim() == 1 else ~truth.isnan().all(1)
            items = graph.counted_items if y is None else torch.nonzero(known).reshape(-1)
            if items.numel() == 0:
                raise DataError(f"{graph.name}: no item has a label, so there is no score")
            share = 1 if self.about_["metric"] in ("rmse", "mae") else 100
            return _grm.score(self.about_["metric"], outputs[items], truth[items]) / share

        scores = self._each(data, of, "test")
        if isinstance(scores, dict):
            scores = list(scores.values())
        return float(np.mean(scores))

    def explain(self, data: Any, node: Optional[int] = None, graph: Optional[int] = None) -> Explanation:
        """Why an item was classified as it was: the graph that the method generated in its place."""
        item = node if node is not None else graph
        if item is None:
            raise ConfigError("say which: explain(data, node=17), or graph=3 at graph level")
        return Explanation(self._fitted().explain(self._graph(data), int(item)))

    def weights(self) -> Dict[str, torch.Tensor]:
        """Copies of the parameters by name."""
        return self._fitted().weights()

    # --- files ------------------------------------------------------------------------------------

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model: the same file, byte for byte, as the program's model.safetensors."""
        self._fitted()
        temporary = f"{os.fspath(path)}.new"
        with open(temporary, "wb") as file:
            file.write(self._bytes)
        os.replace(temporary, path)

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_model", None)
        state.pop("_network", None)
        return state


def load(path: Union[str, "os.PathLike[str]"], device: str = "auto", *,
         backbone: Optional[torch.nn.Module] = None,
         encoder: Optional[torch.nn.Module] = None,
         classifier: Optional[torch.nn.Module] = None) -> Classifier:
    """Reads a model file, or the folder of a run of the program.

    A model with a network of your own needs that network: its structure is not in the file.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        path = os.path.join(path, "model.safetensors")
    networks = {"backbone": backbone, "encoder": encoder, "classifier": classifier}
    given = {role: net for role, net in networks.items() if net is not None}
    about = _grm.Model(path, "cpu", Networks(given) if given else None).about()
    spec = f"{about['method']}:{about['preset']}"
    model = Classifier(spec, about["seed"], device, **networks, **_changed_options(about, spec))
    model._take(path)
    return model


def _changed_options(about: Dict[str, Any], spec: str) -> Dict[str, Any]:
    sections = _grm.config_sections(about["config"])
    plain = make_config(_grm.memory_name(about["level"]), spec, "cpu", {})
    changed = {}
    for section, rows in (("method", plain.method_options()), ("train", plain.train_options())):
        for key, _, value, *_ in rows:
            given = sections.get(section, {}).get(key)
            if given is not None and given != value.strip('"') and given != "own" and key != "device":
                changed[f"{section}__{key}"] = given
    return changed


def make_task(train: Any, validation: Any, test: Any, level: Optional[str], metric: Optional[str],
              seed: int, target: str = "class") -> "_grm.Task":
    """A task of the engine from graphs of Python."""
    roles = {"train": Collected(train, level)}
    if not roles["train"].domains:
        raise DataError("there is no training graph")
    level = roles["train"].level
    for role, data in (("validation", validation), ("test", test)):
        if data is not None:
            roles[role] = Collected(data, level)
            if roles[role].domains and roles[role].level != level:
                raise DataError(f"{role} graphs are of {roles[role].level} level, training of {level}")
    texts = set().union(*(c.texts() for c in roles.values())) if target == "class" else set()
    names = sorted(texts)
    graphs = {role: c.build(role, names, target) for role, c in roles.items()}
    if "validation" not in graphs:
        graphs["train"], graphs["validation"] = _own_validation(roles["train"], graphs["train"], names,
                                                                seed, target)
    if target != "class":
        tasks = {g.y.shape[1] for many in graphs.values() for g in many if g.y.dim() == 2}
        if len(tasks) != 1:
            raise ShapeError(f"y must have the same number of columns everywhere, it has {sorted(tasks)}")
        return _grm.make_task(graphs["train"], graphs["validation"], graphs.get("test", []), tasks.pop(),
                              metric or "", names, roles["train"].feature_names(), target)
    largest = max([int(g.y.max()) for many in graphs.values() for g in many if g.y.numel()] + [0])
    classes = len(names) or max(largest + 1, 2)
    return _grm.make_task(graphs["train"], graphs["validation"], graphs.get("test", []), classes,
                          metric or "", names, roles["train"].feature_names(), target)


def _own_validation(given: Collected, train: List[Graph], names: Sequence[str], seed: int,
                    target: str) -> Any:
    """val_mask where there is one, else a share of the labelled items drawn by the seed."""
    masked = [make_node_graph(group[0], f"validation {k + 1}", "validation", names, target)
              for k, group in enumerate(given.domains)
              if isinstance(group[0], Parts) and given.level == "node" and "val_mask" in group[0].masks]
    if masked:
        return train, masked
    left, validation = [], []
    for k, graph in enumerate(train):
        items = graph.loss_items
        order = torch.randperm(items.numel(), generator=torch.Generator().manual_seed(seed + k))
        count = max(1, int(VALIDATION_SHARE * items.numel()))
        if items.numel() < 2:
            raise DataError(f"{graph.name}: too few labels to set some aside; give validation=...")
        held = torch.zeros(graph.num_items, dtype=torch.bool)
        held[items[order[:count]]] = True
        rest = torch.zeros(graph.num_items, dtype=torch.bool)
        rest[items[order[count:]]] = True
        left.append(graph.counting(loss=rest))
        validation.append(graph.counting(evaluate=held).renamed(f"validation {k + 1}"))
    return left, validation


def _watcher(progress: bool, callbacks: List[Callback]) -> Optional[Callable[[Dict[str, Any]], bool]]:
    if not progress and not callbacks:
        return None

    def watch(report: Dict[str, Any]) -> bool:
        epoch = Epoch(**report)
        if progress:
            end = "\n" if epoch.epoch == epoch.epochs else ""
            sys.stderr.write(f"\repoch {epoch.epoch}/{epoch.epochs}  loss {epoch.loss['total']:.4f}  "
                             f"validation {epoch.validation:.1f}{end}")
            sys.stderr.flush()
        answers = [callback(epoch) for callback in callbacks]
        return any(answer is True for answer in answers)

    return watch


def _passing_folder() -> Optional[str]:
    """Where files of a run go that nobody asked for: memory, where there is plenty of it."""
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
        if shutil.disk_usage(MEMORY).free > 2**30:
            return MEMORY
    return None


class _CtrlC:
    """While it lives, the first Ctrl-C is noted, so that an epoch ends and a checkpoint is written; a
    second one interrupts at once. Where somebody else handles the signal, or outside of the main
    thread, nothing is changed."""

    def __init__(self) -> None:
        self._noted = False
        self._ours = False

    def __enter__(self) -> "_CtrlC":
        if (threading.current_thread() is threading.main_thread()
                and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
            signal.signal(signal.SIGINT, self._note)
            self._ours = True
        return self

    def _note(self, number: int, frame: Any) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True

    def pressed(self) -> bool:
        return self._noted

    def __exit__(self, *error: Any) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _history(path: str) -> List[Dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _root() -> str:
    return data_root()
