#!/usr/bin/env python3
"""citation_domains.py NETWORK.npz OUT [--key words|degree]: a citation network as own data, cut into domains by the length of a paper.

NETWORK.npz is cora.npz or citeseer.npz as shchur/gnn-benchmark hands them out. Papers are sorted by their number of distinct words (or
by degree) and cut into six parts of equal size: the first three are training domains, the fourth is validation, the last two are
tests. Edges between parts are left out, the others count in both directions.
"""

import argparse
import pathlib

import numpy as np
import scipy.sparse as sparse

NAMES = ["train1", "train2", "train3", "validation", "test1", "test2"]


def matrix(archive, name):
    return sparse.csr_matrix((archive[name + "_data"], archive[name + "_indices"], archive[name + "_indptr"]), archive[name + "_shape"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("out")
    parser.add_argument("--key", choices=["words", "degree"], default="words")
    options = parser.parse_args()
    with np.load(options.network, allow_pickle=False) as archive:
        edges, words, labels = matrix(archive, "adj"), matrix(archive, "attr"), archive["labels"].astype(np.int64)
        classes = [str(name) for name in archive["class_names"]]
    edges = edges.maximum(edges.T)
    key = np.diff((words if options.key == "words" else edges).indptr)
    order = np.argsort(key, kind="stable")
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, part in zip(NAMES, np.array_split(order, len(NAMES))):
        part = np.sort(part)
        inside = edges[part][:, part].tocoo()
        x = words[part]
        np.savez_compressed(out / f"{name}.npz", edge_index=np.stack([inside.col, inside.row]).astype(np.int64), y=labels[part],
                            x_indptr=x.indptr, x_indices=x.indices, x_width=np.array([x.shape[1]]))
    (out / "dataset.toml").write_text(
        f'name = "{pathlib.Path(options.network).stem}-{options.key}"\nlevel = "node"\nmetric = "accuracy"\nlabels = {classes!r}\n'.replace("'", '"') +
        "[train]\ndomains = " + str(NAMES[:3]).replace("'", '"') + "\n[validation]\ndomains = [\"validation\"]\n"
        "[test]\ndomains = " + str(NAMES[4:]).replace("'", '"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
