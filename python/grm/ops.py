"""The operators of the engine, for loops of your own: differentiable, float and double, CPU and GPU.

Results do not depend on the number of threads. Second derivatives are refused.
"""

from __future__ import annotations

import weakref
from typing import Any, Dict, Optional, Tuple, Union

import torch

from . import _grm

Pattern = _grm.Pattern
EdgeIndex = Union[torch.Tensor, Pattern]

_known: Dict[int, Tuple[Any, int, int, Pattern]] = {}


def pattern(edge_index: EdgeIndex, num_nodes: int) -> Pattern:
    """Pairs as the engine stores them; those of a tensor that lives on are made once.

    >>> import torch
    >>> pattern(torch.tensor([[0, 1, 1], [1, 2, 2]]), 3).num_edges  # equal pairs count once
    2
    """
    if isinstance(edge_index, Pattern):
        return edge_index
    key = id(edge_index)
    found = _known.get(key)
    if found is not None:
        alive, version, nodes, made = found
        if alive() is edge_index and version == edge_index._version and nodes == num_nodes:
            return made
    made = Pattern(edge_index, num_nodes)

    def forget(_: Any, key: int = key) -> None:
        _known.pop(key, None)

    _known[key] = (weakref.ref(edge_index, forget), edge_index._version, num_nodes, made)
    return made


def propagate(x: torch.Tensor, edge_index: EdgeIndex, edge_weight: Optional[torch.Tensor] = None, *,
              conv: str = "kipf", bias: Optional[torch.Tensor] = None, relu: bool = False) -> torch.Tensor:
    """One propagation y = P x, as in a GCN layer behind its linear map.

    `conv`: "kipf" (self-loops and symmetric normalisation, as GCNConv), "sum", or "mean" over the
    in-neighbours. Row 0 of `edge_index` are sources, row 1 targets; gradients reach x, the weights
    (through the degrees, too) and the bias. `relu` and `bias` are applied in the same pass.

    >>> import torch
    >>> x = torch.eye(3)
    >>> propagate(x, torch.tensor([[0, 1], [1, 2]]), conv="sum").tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return _grm.propagate(x, pattern(edge_index, x.shape[0]), edge_weight, bias, conv, relu)


def generate(f: torch.Tensor, x: torch.Tensor, offsets: Optional[torch.Tensor] = None, *,
             normalised: bool = True, theta: float = 0.5,
             reduction: str = "mean") -> Tuple[torch.Tensor, torch.Tensor]:
    """Generates edges e_ij = sigmoid(<f_i, f_j>) over all pairs of each graph and propagates x on them.

    The nodes of graph g are the rows offsets[g] .. offsets[g + 1); without offsets all rows are one
    graph. Returns D^-1/2 E D^-1/2 x (E x if not `normalised`) and, for each graph, the mean or sum over
    its pairs of KL(Bernoulli(e) || Bernoulli(theta)). No array over pairs is written to memory.

    >>> import torch
    >>> y, kl = generate(torch.zeros(4, 2), torch.ones(4, 1))
    >>> torch.allclose(y, torch.ones(4, 1)), kl.tolist()
    (True, [0.0])
    """
    return _grm.generate(f, x, offsets, normalised, theta, reduction == "mean")


def influence_sets(edge_index: EdgeIndex, num_nodes: int, *, length: float = 3.0, paths: float = 1.5,
                   members: int = 0, seed: int = 0) -> Pattern:
    """The influential nodes V_i of each node i (Section 3.3 of the paper) as a pattern u -> i.

    u is in V_i if its mean shortest-path length to the neighbours of i is at most `length` and the
    geometric mean of the number of shortest paths at least `paths`. `members` > 0 samples the sets for
    large graphs. `propagate(x, sets, conv="mean")` is the differentiable mean over them.

    >>> import torch
    >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> influence_sets(ring, 4).num_nodes
    4
    """
    return _grm.influence_sets(pattern(edge_index, num_nodes), length, paths, members, seed)


def latent_sample(heads: torch.Tensor, eps: Optional[torch.Tensor] = None, *,
                  shift: float = 0.0) -> Tuple[torch.Tensor, torch.Tensor]:
    """z = mu + sigma eps and KL(N(mu, sigma^2) || N(0, 1)) of each row.

    `heads` [n, 2k] are mu and log sigma side by side; log sigma + shift is clamped to -10 .. 4. Without
    `eps` z = mu.

    >>> import torch
    >>> z, kl = latent_sample(torch.zeros(2, 6))
    >>> z.shape, kl.tolist()
    (torch.Size([2, 3]), [0.0, 0.0])
    """
    return _grm.latent_sample(heads, eps, shift)
