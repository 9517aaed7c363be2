"""From what Python users have (PyG Data, tuples, NumPy, SciPy, networkx, pandas) to graphs of the engine.

Tensors and arrays are handed over as they are: float32 features that are contiguous are not copied.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Optional, Sequence, Tuple

import numpy as np
import torch

from . import _grm
from ._errors import DataError, ShapeError

Graph = _grm.Graph

MASKS = {"train": "train_mask", "validation": "val_mask", "test": "test_mask"}


def is_scipy(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "scipy" and hasattr(value, "tocsr")


def is_networkx(value: Any) -> bool:
    return hasattr(value, "adjacency") and hasattr(value, "is_directed") and hasattr(value, "nodes")


def is_frame(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "pandas" and hasattr(value, "columns")


def tensor(value: Any, what: str) -> torch.Tensor:
    """A tensor that shares the memory of `value` where it can."""
    if isinstance(value, torch.Tensor):
        return value
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "US":
        raise DataError(f"{what} holds text or objects; numbers are expected")
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        array = array.astype(np.int64)
    if not array.flags.writeable or any(s < 0 for s in array.strides):
        array = np.array(array)  # torch takes no read-only and no reversed memory
    return torch.from_numpy(np.ascontiguousarray(array))


def features(x: Any) -> Tuple[Optional[torch.Tensor], Optional[tuple]]:
    """Dense columns, and sparse ones as (offsets, indices, values, columns)."""
    if x is None:
        return None, None
    if is_scipy(x):
        csr = x.tocsr()
        if not csr.has_sorted_indices or not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        values = None if csr.data.dtype == bool else tensor(csr.data, "x")
        return None, (tensor(csr.indptr, "x"), tensor(csr.indices, "x"), values, int(csr.shape[1]))
    if isinstance(x, torch.Tensor) and x.layout == torch.sparse_csr:
        return None, (x.crow_indices(), x.col_indices(), x.values(), int(x.shape[1]))
    if isinstance(x, torch.Tensor) and x.layout == torch.sparse_coo:
        return features(x.to_sparse_csr())
    dense = tensor(x, "x")
    return (dense.unsqueeze(1) if dense.dim() == 1 else dense), None


def pairs(edges: Any) -> torch.Tensor:
    """edge_index [2, m] of a tensor, an array, pairs, or an adjacency matrix of SciPy (row -> column)."""
    if is_scipy(edges):
        coo = edges.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise ShapeError(f"the adjacency matrix is {coo.shape[0]} x {coo.shape[1]}, not square")
        return torch.from_numpy(np.stack([coo.row.astype(np.int64), coo.col.astype(np.int64)]))
    if isinstance(edges, torch.Tensor) and edges.layout in (torch.sparse_coo, torch.sparse_csr):
        return edges.to_sparse_coo().coalesce().indices()
    index = tensor(edges, "edge_index")
    if index.numel() == 0:
        return torch.zeros((2, 0), dtype=torch.int64)
    if index.dim() == 2 and index.shape[0] != 2 and index.shape[1] == 2:
        index = index.t()
    return index


def targets(y: Any) -> torch.Tensor:
    """Targets that are not classes: float32 [items, tasks], NaN where nothing is known."""
    if not isinstance(y, torch.Tensor):
        y = tensor(np.asarray(y, dtype=np.float32), "y")
    y = y.detach().cpu().to(torch.float32)
    return y.reshape(-1, 1) if y.dim() < 2 else y


def labels(y: Any, names: Optional[Sequence[str]] = None, target: str = "class") -> Optional[torch.Tensor]:
    """int64 labels, -1 where there is none (NaN, None, negative); texts by their place in `names`."""
    if y is None:
        return None
    if target != "class":
        return targets(y)
    if isinstance(y, torch.Tensor):
        flat = y.reshape(-1)
        if flat.is_floating_point():
            known = torch.isfinite(flat)
            whole = torch.where(known, flat, torch.full_like(flat, -1))
            if not bool((whole == whole.round()).all()):
                raise DataError("y holds numbers that are not whole: classes are 0, 1, 2, ...")
            flat = whole
        return flat.to(torch.int64)
    array = np.asarray(y).reshape(-1)
    if array.dtype.kind in "OUS":
        place = {name: k for k, name in enumerate(names or [])}
        unknown = {str(v) for v in array if not missing(v)} - set(place)
        if unknown:
            raise DataError(f"the label '{sorted(unknown)[0]}' is none of the classes {list(place)}")
        return torch.tensor([-1 if missing(v) else place[str(v)] for v in array], dtype=torch.int64)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    return labels(tensor(array, "y"))


def missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value)) or value != value


def label_texts(y: Any) -> set:
    """The texts among labels; nothing for numbers."""
    if y is None or isinstance(y, torch.Tensor):
        return set()
    array = np.asarray(y)
    if array.dtype.kind not in "OUS":
        return set()
    texts = {v for v in array.reshape(-1) if not missing(v)}
    return {str(v) for v in texts} if any(isinstance(v, str) for v in texts) else set()


def from_pandas(nodes: Any, edges: Any, label: Optional[str] = "y", id: Optional[str] = None,
                source: str = "source", target: str = "target",
                undirected: bool = False) -> "Parts":
    """A graph from a table of nodes and a table of edges.

    `id` names the column of `nodes` that the ends of edges speak of; without it the index of the table
    does. All other columns but `label` are features and must be numbers.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": ["ann", "bob", "eve"], "age": [30, 40, 50], "y": [0, 1, 0]})
    >>> calls = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"]})
    >>> g = from_pandas(people, calls, id="id")
    >>> g.edge_index.tolist(), g.x.tolist(), g.item_names
    ([[0, 1], [1, 2]], [[30.0], [40.0], [50.0]], ['ann', 'bob', 'eve'])
    """
    keys = list(nodes[id]) if id is not None else list(nodes.index)
    place = {key: k for k, key in enumerate(keys)}
    if len(place) != len(keys):
        raise DataError("two nodes have the same id; each row of the table of nodes is one node")
    for column in (source, target):
        if column not in edges.columns:
            raise DataError(f"the table of edges has no column '{column}'; name it: {column}=...")
        strangers = [v for v in edges[column] if v not in place]
        if strangers:
            raise DataError(f"column '{column}' of the edges names '{strangers[0]}', which is no node")
    left_out = {id, label}
    columns = [c for c in nodes.columns if c not in left_out]
    for column in columns:
        if nodes[column].dtype.kind not in "biuf":
            raise DataError(f"column '{column}' holds text: turn it into numbers with "
                            "pandas.get_dummies, or write a folder of own data (docs/data.md)")
    index = np.stack([edges[source].map(place).to_numpy(np.int64),
                      edges[target].map(place).to_numpy(np.int64)])
    if undirected:
        index = np.concatenate([index, index[::-1]], axis=1)
    y = nodes[label].to_numpy() if label is not None and label in nodes.columns else None
    names = [str(key) for key in keys] if id is not None else []
    return Parts(torch.from_numpy(index), nodes[columns].to_numpy(np.float32), y, item_names=names,
                 feature_names=[str(c) for c in columns])


def from_networkx(graph: Any, x: str = "x", y: str = "y") -> "Parts":
    """A graph of networkx whose nodes carry features `x` and, where known, labels `y`.

    >>> import networkx as nx
    >>> g = nx.path_graph(3)
    >>> nx.set_node_attributes(g, {k: [float(k), 1.0] for k in g}, "x")
    >>> from_networkx(g).edge_index.shape
    torch.Size([2, 4])
    """
    place = {node: k for k, node in enumerate(graph.nodes)}
    edges = [(place[a], place[b]) for a, b in graph.edges()]
    if not graph.is_directed():
        edges += [(b, a) for a, b in edges]
    rows = []
    for node, data in graph.nodes(data=True):
        if x not in data:
            raise DataError(f"node {node!r} has no attribute '{x}'; features are a list of numbers")
        rows.append(np.atleast_1d(np.asarray(data[x], dtype=np.float32)))
    widths = {len(r) for r in rows}
    if len(widths) != 1:
        raise ShapeError(f"the nodes have features of different widths: {sorted(widths)}")
    given = [data.get(y) for _, data in graph.nodes(data=True)]
    known = any(v is not None for v in given)
    if known and not any(isinstance(v, str) for v in given):
        given = np.array([-1 if v is None else v for v in given])
    index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).t().contiguous()
    return Parts(index, np.stack(rows), np.asarray(given) if known else None,
                 item_names=[str(node) for node in graph.nodes])


class Parts:
    """A graph as arrays, whatever it came from."""

    def __init__(self, edge_index: Any, x: Any, y: Any = None, *, edge_attr: Any = None,
                 edge_weight: Any = None, masks: Optional[dict] = None,
                 item_names: Optional[List[str]] = None, feature_names: Optional[List[str]] = None,
                 batch: Any = None, name: str = "") -> None:
        self.edge_index = pairs(edge_index)
        self.x_given = x
        self.x, self.x_sparse = features(x)
        self.y = y
        self.edge_attr = None if edge_attr is None else tensor(edge_attr, "edge_attr")
        self.edge_weight = None if edge_weight is None else tensor(edge_weight, "edge_weight")
        self.masks = {k: tensor(v, k).reshape(-1).bool() for k, v in (masks or {}).items()
                      if v is not None}
        self.item_names = item_names or []
        self.feature_names = feature_names or []
        self.batch = None if batch is None else tensor(batch, "batch")
        self.name = name

    @property
    def nodes(self) -> int:
        if self.x is not None:
            return int(self.x.shape[0])
        return 0 if self.x_sparse is None else int(self.x_sparse[0].numel()) - 1

    @property
    def classifies_graph(self) -> bool:
        """Whether the labels are of graphs: a batch of PyG, or one label for more than one node."""
        if self.batch is not None:
            return True
        count = 0 if self.y is None else int(np.prod(np.shape(self.y)))
        return count == 1 and self.nodes != 1


def parts_of(data: Any) -> Parts:
    """Reads one graph of any kind."""
    if isinstance(data, Parts):
        return data
    if is_networkx(data):
        return from_networkx(data)
    if isinstance(data, tuple) and len(data) in (2, 3):
        if is_frame(data[0]) and is_frame(data[1]):
            return from_pandas(data[0], data[1], id="id" if "id" in data[0].columns else None)
        return Parts(*data)
    if isinstance(data, dict) and "edge_index" in data and "x" in data:
        known = {"edge_index", "x", "y", "edge_attr", "edge_weight", "batch", "name"}
        return Parts(**{k: v for k, v in data.items() if k in known},
                     masks={m: data.get(m) for m in MASKS.values()})
    if hasattr(data, "edge_index") and hasattr(data, "x"):  # Data and Batch of PyTorch Geometric
        get = lambda key: getattr(data, key, None)
        attributes = get("edge_attr")
        if attributes is not None and attributes.dim() == 1:
            attributes = attributes.unsqueeze(1)
        name = get("name")
        return Parts(data.edge_index, data.x, get("y"), edge_attr=attributes,
                     edge_weight=get("edge_weight"), batch=get("batch"),
                     name=name if isinstance(name, str) else "",
                     masks={m: get(m) for m in MASKS.values()})
    raise DataError(
        f"{type(data).__name__} is no graph: give a Data of PyTorch Geometric, (edge_index, x, y), "
        "(adjacency of SciPy, x, y), a graph of networkx, (nodes, edges) of pandas, or a grm.Graph")


def make_node_graph(p: Parts, name: str, role: str, names: Sequence[str], target: str = "class",
                    edge_features: bool = True) -> Graph:
    mask = p.masks.get(MASKS.get(role, ""))
    loss = p.masks.get("train_mask") if role == "train" else mask
    return _grm.make_graph(name, p.edge_index, p.x, p.x_sparse, labels(p.y, names, target), loss,
                           mask, None, p.edge_attr if edge_features else None, p.edge_weight,
                           p.item_names)


def make_graph_set(many: List[Parts], name: str, names: Sequence[str],
                   edge_features: bool = True, target: str = "class") -> Graph:
    """A set of graphs, packed once."""
    if len(many) == 1 and many[0].batch is not None:
        p = many[0]
        count = int(p.batch.max()) + 1 if p.batch.numel() else 0
        sizes = torch.bincount(p.batch.cpu(), minlength=count)
        if not bool((p.batch[1:] >= p.batch[:-1]).all()):
            raise DataError("batch must not fall: the nodes of a graph follow each other")
        index, x, attributes, weights = p.edge_index, p.x, p.edge_attr, p.edge_weight
        y = labels(p.y, names, target)
        if x is None:
            raise DataError("sets of graphs need dense features")
    else:
        sizes = torch.tensor([p.nodes for p in many])
        starts = torch.cumsum(sizes, 0) - sizes
        index = torch.cat([p.edge_index.cpu().to(torch.int64) + int(s) for p, s in zip(many, starts)], 1)
        if any(p.x is None for p in many):
            raise DataError("sets of graphs need dense features")
        x = torch.cat([p.x.float() for p in many])
        has = [p.edge_attr is not None for p in many]
        attributes = torch.cat([p.edge_attr.float() for p in many]) if all(has) else None
        has = [p.edge_weight is not None for p in many]
        weights = torch.cat([p.edge_weight.float() for p in many]) if all(has) else None
        own = [labels(p.y if target == "class" or p.y is None else np.reshape(p.y, (1, -1)), names, target)
               for p in many]
        width = max((each.shape[1] for each in own if each is not None and each.dim() == 2), default=0)
        none = torch.full((1, width), float("nan")) if width else torch.full((1,), -1)
        y = torch.cat([none if each is None else each for each in own])
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), torch.cumsum(sizes, 0)])
    return _grm.make_graph(name, index, x, None, y, None, None, offsets,
                           attributes if edge_features else None, weights, [])


def is_one_graph(data: Any) -> bool:
    if isinstance(data, (Graph, Parts, dict)) or is_networkx(data):
        return True
    if isinstance(data, tuple) and len(data) in (2, 3):
        first = data[0]
        return is_frame(first) or is_scipy(first) or isinstance(first, (torch.Tensor, np.ndarray, list))
    return hasattr(data, "edge_index") and hasattr(data, "x")


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


class Collected:
    """Graphs of one role, before they become domains."""

    def __init__(self, data: Any, level: Optional[str]) -> None:
        items = [data] if is_one_graph(data) else list(data)
        self.domains: List[List[Any]] = []
        ready = [g for g in items if isinstance(g, Graph)]
        if ready and len(ready) != len(items):
            raise DataError("a list holds grm.Graph and other graphs; give one kind")
        if ready:
            self.level = ready[0].level
            self.domains = [[g] for g in items]
            return
        nested = any(isinstance(g, (list, tuple)) and not is_one_graph(g) for g in items)
        groups = [[parts_of(each) for each in g] if isinstance(g, (list, tuple)) and not is_one_graph(g)
                  else [parts_of(g)] for g in items]
        of_graphs = nested or (bool(groups) and all(p.classifies_graph for g in groups for p in g))
        self.level = level or ("graph" if of_graphs else "node")
        if self.level == "graph" and not nested and not any(g[0].batch is not None for g in groups):
            groups = [[p for g in groups for p in g]] if groups else []  # one domain of many graphs
        self.domains = groups

    def texts(self) -> set:
        found: set = set()
        for group in self.domains:
            for p in group:
                if isinstance(p, Parts):
                    found |= label_texts(p.y)
        return found

    def feature_names(self) -> List[str]:
        for group in self.domains:
            for p in group:
                if isinstance(p, Parts) and p.feature_names:
                    return p.feature_names
        return []

    def build(self, role: str, names: Sequence[str], target: str = "class") -> List[Graph]:
        graphs = []
        for k, group in enumerate(self.domains):
            if isinstance(group[0], Graph):
                graphs.append(group[0])
                continue
            name = group[0].name if len(group) == 1 and group[0].name else f"{role} {k + 1}"
            if self.level == "graph":
                graphs.append(make_graph_set(group, name, names, target=target))
            else:
                graphs.append(make_node_graph(group[0], name, role, names, target))
        return graphs


def graph(edge_index: Any, x: Any, y: Any = None, *, name: str = "graph", train_mask: Any = None,
          mask: Any = None, edge_weight: Any = None, edge_attr: Any = None) -> Graph:
    """A graph for node classification from arrays; what is float32 and contiguous is not copied.

    >>> import torch, grm
    >>> x = torch.rand(3, 4)
    >>> g = grm.graph(torch.tensor([[0, 1], [1, 2]]), x, torch.tensor([0, 1, 0]))
    >>> g.x.data_ptr() == x.data_ptr(), g.num_nodes, g.num_edges
    (True, 3, 2)
    """
    texts = sorted(label_texts(y))
    p = Parts(edge_index, x, y, edge_weight=edge_weight, edge_attr=edge_attr,
              masks={"train_mask": train_mask if train_mask is not None else mask, "test_mask": mask})
    counted = p.masks.get("test_mask")
    return _grm.make_graph(name, p.edge_index, p.x, p.x_sparse, labels(p.y, texts),
                           p.masks.get("train_mask"), counted, None, p.edge_attr, p.edge_weight, p.item_names)


def graphs(data: Iterable[Any], *, name: str = "graphs") -> Graph:
    """A set of small graphs, each with one label, for graph classification.

    >>> import torch, grm
    >>> ring = torch.tensor([[0, 1, 2], [1, 2, 0]])
    >>> s = grm.graphs([(ring, torch.ones(3, 2), [k % 2]) for k in range(4)])
    >>> s.level, s.num_items, s.num_nodes
    ('graph', 4, 12)
    """
    many = [parts_of(data)] if is_one_graph(data) else [parts_of(g) for g in data]
    return make_graph_set(many, name, sorted({t for p in many for t in label_texts(p.y)}))


__all__ = ["Graph", "graph", "graphs", "from_pandas", "from_networkx"]
