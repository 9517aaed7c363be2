"""Modules for loops of your own."""

from __future__ import annotations

from typing import Any, Dict, Optional

import torch

from . import _grm
from ._inputs import Graph, graph as make_graph
from ._options import text_of


class _Branch(torch.nn.Module):
    """Holds the tensors of one part of the model under their names."""


class GRM(torch.nn.Module):
    """GRM's generator and classifier as a module: for your own loop, optimiser and loss.

    `options` are those of `grm.options("grm")`. In training mode every call draws anew: which neighbours
    make an ego-net, z, and dropout; in evaluation mode calls repeat. It lives on the device that it was
    made for.

    >>> import torch, grm
    >>> net = grm.nn.GRM(5, 2, preset="centred", latent=8, hidden=8)
    >>> edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> net(torch.rand(4, 5), edges).shape
    torch.Size([4, 2])
    >>> terms = net.losses(torch.rand(4, 5), edges, torch.tensor([0, 1, 0, 1]))
    >>> sorted(terms)
    ['edge_kl', 'invariance', 'latent_kl', 'supervision', 'total']
    """

    def __init__(self, in_channels: int, out_channels: int, preset: str = "best", *, seed: int = 0,
                 device: str = "cpu", **options: Any) -> None:
        super().__init__()
        texts = {key: text_of(value) for key, value in options.items()}
        self._net = _grm.GrmNet(preset, texts, in_channels, out_channels, seed, device)
        self._step = 0
        self._graph: Any = None
        for name, tensor in self._net.parameters():
            tensor._is_param = True  # the engine's own tensor, so that gradients arrive in it
            branch, last = self._branch(name)
            branch.register_parameter(last, tensor)
        for name, tensor in self._net.buffers():
            branch, last = self._branch(name)
            branch.register_buffer(last, tensor)

    def _branch(self, name: str) -> Any:
        *path, last = name.split(".")
        place: torch.nn.Module = self
        for part in path:
            if part not in place._modules:
                place.add_module(part, _Branch())
            place = place._modules[part]
        return place, last

    def _apply(self, fn: Any, *args: Any, **kwargs: Any) -> "GRM":
        probe = fn(torch.zeros(1, device=next(self.parameters()).device))
        here = next(self.parameters())
        if probe.device != here.device or probe.dtype != here.dtype:
            raise RuntimeError("grm.nn.GRM stays where it was made: GRM(..., device=...), float32")
        return self

    def _as_graph(self, x: Any, edge_index: Any) -> Graph:
        if isinstance(x, Graph):
            return x
        kept = self._graph
        if kept is not None and kept[0] is x and kept[1] is edge_index and kept[2] == x._version:
            return kept[3]
        built = make_graph(edge_index, x)
        self._net.forget_graphs()
        self._graph = (x, edge_index, x._version, built)
        return built

    def forward(self, x: Any, edge_index: Any = None, nodes: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Logits of all nodes, or of `nodes`. `x` may be a `grm.Graph`."""
        graph = self._as_graph(x, edge_index)
        if nodes is None:
            nodes = torch.arange(graph.num_nodes)
        self._step += int(self.training)
        return self._net.logits(graph, nodes, self.training, self._step)

    def losses(self, x: Any, edge_index: Any = None, y: Optional[torch.Tensor] = None,
               nodes: Optional[torch.Tensor] = None) -> Dict[str, torch.Tensor]:
        """The terms of GRM's objective on labelled nodes, "total" being what is minimised."""
        graph = self._as_graph(x, edge_index)
        labels = graph.y if y is None else y.to(torch.int64).cpu()
        if nodes is None:
            nodes = torch.nonzero(labels >= 0).reshape(-1)
        self._step += 1
        return self._net.losses(graph, nodes, labels[nodes], self._step)


class Headed(torch.nn.Module):
    """An encoder with a linear classifier on top that also shows what the classifier sees.

    Methods that compare hidden features (mmd) need it: forward gives (hidden, logits).

    >>> import torch, grm
    >>> class Encoder(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.lin = torch.nn.Linear(5, 8)
    ...     def forward(self, x, edge_index, edge_weight=None):
    ...         return torch.relu(grm.ops.propagate(self.lin(x), edge_index, edge_weight))
    >>> hidden, logits = Headed(Encoder(), 8, 3)(torch.rand(4, 5), torch.tensor([[0, 1], [1, 2]]))
    >>> hidden.shape, logits.shape
    (torch.Size([4, 8]), torch.Size([4, 3]))
    """

    def __init__(self, encoder: torch.nn.Module, width: int, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = torch.nn.Linear(width, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor,
                edge_weight: Optional[torch.Tensor] = None) -> Any:
        extra = {} if edge_weight is None else {"edge_weight": edge_weight}
        hidden = self.encoder(x, edge_index, **extra)
        return hidden, self.head(hidden)
