"""Why an item was classified as it was."""

from __future__ import annotations

from typing import Any, Dict

COLOURS = {"kept": "#2a6f97", "weakened": "#c9c9c9", "new": "#d1495b", "absent": "#f0f0f0"}


class Explanation:
    """The graph that a method generated in the place of the observed one, around one item.

    `edges` and `nodes` are pandas tables; `fate` of an edge says what became of it: kept, weakened, new
    or absent.
    """

    def __init__(self, found: Dict[str, Any]) -> None:
        self.item: int = found["item"]
        self.name: str = found["name"]
        self.level: str = found["level"]
        self.probabilities = found["probabilities"]
        self.predicted: int = found["predicted"]
        self.label: int = found["label"]
        self.centre: int = found["centre"]
        self.threshold: float = found["threshold"]
        self.generated: bool = found["generated"]
        self.remark: str = found["remark"]
        self._nodes = found["nodes"]
        self._edges = found["edges"]

    @property
    def nodes(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self._nodes, columns=["node", "name", "distance", "self_weight"])

    @property
    def edges(self) -> Any:
        """Pairs by node numbers of the graph that was explained, heaviest first."""
        import pandas as pd

        table = pd.DataFrame(self._edges, columns=["source", "target", "weight", "spread", "observed",
                                                   "fate", "clear"])
        ids = [node[0] for node in self._nodes]
        table["source"] = [ids[k] for k in table["source"]]
        table["target"] = [ids[k] for k in table["target"]]
        return table.sort_values("weight", ascending=False, kind="stable").reset_index(drop=True)

    def to_networkx(self) -> Any:
        """A networkx graph with the attributes weight, spread, observed and fate."""
        import networkx as nx

        graph = nx.Graph()
        for node, name, distance, self_weight in self._nodes:
            graph.add_node(node, name=name, distance=distance, self_weight=self_weight)
        for row in self.edges.itertuples(index=False):
            graph.add_edge(row.source, row.target, weight=row.weight, spread=row.spread,
                           observed=row.observed, fate=row.fate)
        return graph

    def plot(self, ax: Any = None, absent: bool = False) -> Any:
        """Draws it with matplotlib and returns the axes; pairs that are not there only if asked for."""
        import matplotlib.pyplot as plt
        import networkx as nx

        if ax is None:
            _, ax = plt.subplots(figsize=(6, 6))
        graph = self.to_networkx()
        place = nx.spring_layout(graph, seed=0, weight="weight")
        widest = max([d["weight"] for _, _, d in graph.edges(data=True)] + [1e-12])
        for fate, colour in COLOURS.items():
            if fate == "absent" and not absent:
                continue
            some = [(a, b) for a, b, d in graph.edges(data=True) if d["fate"] == fate]
            widths = [0.3 + 3 * graph[a][b]["weight"] / widest for a, b in some]
            if some:
                drawn = nx.draw_networkx_edges(graph, place, edgelist=some, width=widths,
                                               edge_color=colour, ax=ax)
                if drawn is not None and hasattr(drawn, "set_label"):
                    drawn.set_label(fate)
        centre = self._nodes[self.centre][0] if self.centre >= 0 else None
        colours = ["#edae49" if node == centre else "#ffffff" for node in graph]
        nx.draw_networkx_nodes(graph, place, node_size=60, node_color=colours, edgecolors="#333333", ax=ax)
        ax.set_title(f"{self.level} {self.name}: class {self.predicted}, "
                     f"p = {max(self.probabilities):.2f}")
        ax.set_axis_off()
        return ax

    def __repr__(self) -> str:
        return (f"<grm.Explanation of {self.level} {self.name}: class {self.predicted}, "
                f"{len(self._edges)} pairs>")
