"""Small files in the formats of the publishers, for every reader of a built-in dataset."""

import json
import random
import struct

from formats import (
    archive,
    gzipped,
    idx,
    mat,
    mat_element,
    mat_matrix,
    npy,
    packed,
    pickle_array,
    pickle_csr,
    pickle_lists,
    pickled,
)


def rows(lines):
    return "".join(",".join(map(str, line)) + "\n" for line in lines).encode()


def ring(rng, n):
    return [(i, (i + rng.choice([1, 2, 3])) % n) for i in range(n)] + [
        (i, (i + 1) % n) for i in range(n)
    ]


def twitch(rng):
    files = {}
    for region in ("DE", "ENGB", "ES", "FR", "PTBR", "RU", "TW"):
        n, stem = 24, f"twitch/{region}/musae_{region}_"
        people = [(900 + i, 1, str(i % 2 == 1), 5, "False", i) for i in range(n)]
        files[stem + "target.csv"] = rows(
            [("id", "days", "mature", "views", "partner", "new_id"), *people]
        )
        files[stem + "edges.csv"] = rows([("from", "to"), *ring(rng, n)])
        lists = {str(i): sorted({rng.randrange(3170), i % 2}) for i in range(n)}
        files[stem + "features.json"] = json.dumps(lists).encode()
    return files


def csr(pairs, rows_, values=1.0):
    """Offsets, indices and values of a sparse matrix by rows."""
    by_row = [sorted({j for i, j in pairs if i == r}) for r in range(rows_)]
    offsets = [0]
    for columns in by_row:
        offsets.append(offsets[-1] + len(columns))
    indices = [j for columns in by_row for j in columns]
    return offsets, indices, [values] * len(indices)


def university(rng, n=12):
    pairs = {(i, j) for a, b in ring(rng, n) for i, j in ((a, b), (b, a)) if i != j}
    offsets, indices, values = csr(pairs, n)
    sparse = (
        mat_element(5, packed(indices, "i"))
        + mat_element(5, packed(offsets, "i"))
        + mat_element(9, packed(values, "d"))
    )
    info = [
        float(rng.choice(choices))
        for choices in ([1, 2], [1, 2], [5, 9], [0, 3], [7, 8], [2004, 2005], [0, 11])
        for _ in range(n)
    ]
    return mat(
        [
            mat_matrix(5, n, n, b"A", sparse, len(values)),
            mat_matrix(6, n, 7, b"local_info", mat_element(9, packed(info, "d"))),
        ],
        rng.random() < 0.5,
    )


def fb100(rng):
    names = (
        "JohnsHopkins55 Caltech36 Amherst41 Bingham82 Duke14 Princeton12 WashU32 Brandeis99 "
        "Carnegie49 "
        "Cornell5 Yale4 Penn94 Brown11 Texas80"
    ).split()
    return {f"facebook100/{name}.mat": university(rng) for name in names}


def cora(rng):
    known, tested, words, classes = 30, 10, 20, 3

    def features(n):
        return pickle_csr(
            *csr([(i, rng.randrange(words)) for i in range(n) for _ in range(4)], n), [n, words]
        )

    def labels(n):
        return pickle_array(
            [int(c == i % classes) for i in range(n) for c in range(classes)], [n, classes]
        )

    order = list(range(known, known + tested))
    rng.shuffle(order)
    n = known + tested
    neighbours = [[(i + 1) % n, (i + 5) % n] for i in range(n)]
    stem = "cora/ind.cora."
    return {
        stem + "allx": pickled(features(known)),
        stem + "tx": pickled(features(tested)),
        stem + "ally": pickled(labels(known)),
        stem + "ty": pickled(labels(tested)),
        stem + "graph": pickled(pickle_lists(neighbours)),
        stem + "test.index": rows([(i,) for i in order]),
    }


def photo(rng):
    n, words, members = 40, 20, {}
    for prefix, pairs, width in (
        ("adj", ring(rng, n), n),
        ("attr", [(i, rng.randrange(words)) for i in range(n) for _ in range(4)], words),
    ):
        offsets, indices, values = csr(pairs, n)
        members[f"{prefix}_data.npy"] = npy(values, [len(values)])
        members[f"{prefix}_indices.npy"] = npy(indices, [len(indices)], "<i4")
        members[f"{prefix}_indptr.npy"] = npy(offsets, [n + 1], "<i4")
        members[f"{prefix}_shape.npy"] = npy([n, width], [2], "<i8")
    members["labels.npy"] = npy([i % 4 for i in range(n)], [n], "<i8")
    return {"amazon-photo/amazon_electronics_photo.npz": archive(members)}


def elliptic(rng):
    table, classes, edges = [], [("txId", "class")], [("txId1", "txId2")]
    for step in range(1, 50):
        ids = [step * 100 + k for k in range(4)]
        for k, node in enumerate(ids):
            table.append((node, step, *(round(rng.gauss(0, 1), 2) for _ in range(165))))
            classes.append((node, ("1", "2", "unknown", "2")[k]))
        edges += list(zip(ids, ids[1:]))
    return {
        f"elliptic/elliptic_txs_{name}.csv": rows(lines)
        for name, lines in (("features", table), ("classes", classes), ("edgelist", edges))
    }


def arxiv(rng):
    n = 50
    tables = {
        "edge": ring(rng, n),
        "node-feat": [[round(rng.gauss(0, 1), 2) for _ in range(128)] for _ in range(n)],
        "node-label": [(i % 4,) for i in range(n)],
        "node_year": [(2008 + i % 13,) for i in range(n)],
    }
    return {f"arxiv/raw/{name}.csv.gz": gzipped(rows(lines)) for name, lines in tables.items()}


def molecules(rng, sizes, labels):
    bonds = [[(i, i + 1) for i in range(n - 1)] for n in sizes]
    codes = [119, 5, 12, 12, 10, 6, 6, 2, 2]
    tables = {
        "edge": [pair for graph in bonds for pair in graph],
        "edge-feat": [
            (rng.randrange(5), rng.randrange(6), rng.randrange(2)) for graph in bonds for _ in graph
        ],
        "graph-label": labels,
        "node-feat": [[rng.randrange(k) for k in codes] for n in sizes for _ in range(n)],
        "num-edge-list": [(len(graph),) for graph in bonds],
        "num-node-list": [(n,) for n in sizes],
    }
    return {f"raw/{name}.csv.gz": gzipped(rows(lines)) for name, lines in tables.items()}


def under(folder, files):
    return {f"{folder}/{path}": data for path, data in files.items()}


def scaffolds(sizes):
    lines = [("idx", "atoms", "scaffold_rank", "scaffold", "smiles")]
    lines += [(k, n, k % 9, "C" * (k % 9), "C" * n) for k, n in enumerate(sizes)]
    return gzipped(rows(lines))


def molhiv(rng):
    sizes = [rng.randrange(3, 7) for _ in range(24)]
    files = under("molhiv", molecules(rng, sizes, [(i % 2,) for i in range(len(sizes))]))
    for name, ids in (("train", range(16)), ("valid", range(16, 20)), ("test", range(20, 24))):
        files[f"molhiv/split/scaffold/{name}.csv.gz"] = gzipped(rows([(i,) for i in ids]))
    return files


def clintox(rng):
    sizes = [rng.randrange(3, 7) for _ in range(30)]
    files = molecules(rng, sizes, [(i % 2, rng.choice([0, 1, "nan", ""])) for i in range(len(sizes))])
    return under("molecules/clintox", {**files, "domains.csv.gz": scaffolds(sizes)})


def drugood(rng):
    sizes = [rng.randrange(3, 7) for _ in range(20)]
    files = molecules(rng, sizes, [])
    del files["raw/graph-label.csv.gz"]
    lines = [("molecule", "subset", "label", "domain", "pEC50", "assay")]
    for k in range(len(sizes)):
        subset = ("train", "id_val", "id_test", "val", "test")[k // 4]
        lines.append((k, subset, k % 2, k // 3, 4.5 + k % 2, k))
    return under("molecules/drugood-ec50", {**files, "split_assay.csv.gz": gzipped(rows(lines))})


def nci1(rng):
    sizes = [rng.randrange(3, 20) for _ in range(30)]
    lines = [str(len(sizes))]
    for k, n in enumerate(sizes):
        lines.append(f"{n} {k % 2}")
        lines += [f"{rng.randrange(4)} 2 {(i + 1) % n} {(i + n - 1) % n}" for i in range(n)]
    return {"tu/NCI1.txt.gz": gzipped(("\n".join(lines) + "\n").encode())}


def webkb(rng):
    files = {}
    for name in ("cornell", "texas", "wisconsin"):
        pages = [
            f"{i}\t{','.join(rng.choice('0001') for _ in range(1703))}\t{i % 5}" for i in range(10)
        ]
        links = [f"{a}\t{b}" for a, b in ring(rng, 10)]
        for part, head, lines in (
            ("node_feature_label", "node_id\tfeature\tlabel", pages),
            ("graph_edges", "node_id\tnode_id", links),
        ):
            files[f"webkb/{name}/out1_{part}.txt"] = "\n".join([head, *lines, ""]).encode()
    return files


def mnist(rng):
    files = {}
    for stem, n in (("train", 8), ("t10k", 4)):
        pixels = [rng.randrange(256) if (i // 28) % 3 == 0 else 0 for i in range(n * 784)]
        files[f"mnist/{stem}-images-idx3-ubyte.gz"] = gzipped(idx(pixels, [n, 28, 28]))
        files[f"mnist/{stem}-labels-idx1-ubyte.gz"] = gzipped(idx([i % 10 for i in range(n)], [n]))
    return files


def graph_sst2(rng):
    sizes = [rng.randrange(2, 12) for _ in range(60)]
    first, edges = 0, []
    for n in sizes:
        edges += [(first + i, first + i + 1) for i in range(n - 1)]
        first += n
    stem = "Graph_SST2/raw/Graph_SST2_"
    return {
        stem
        + "node_indicator.txt": rows([(g + 1,) for g, n in enumerate(sizes) for _ in range(n)]),
        stem + "graph_labels.txt": rows([(i % 2,) for i in range(len(sizes))]),
        stem + "edge_index.txt": rows(edges),
        stem
        + "node_features.pkl": pickled(
            pickle_array([rng.gauss(0, 1) for _ in range(first * 4)], [first, 4], b"f4")
        ),
    }


def sst2_tree(rng):
    sizes, words = [rng.randrange(2, 8) for _ in range(30)], 12
    tokens = sum(sizes)
    offsets = [sum(sizes[:k]) for k in range(len(sizes) + 1)]
    parents = [k - 1 for n in sizes for k in range(n)]
    numbers = (
        [i % 2 for i in range(len(sizes))]
        + offsets
        + [rng.randrange(words) for _ in range(tokens)]
        + parents
    )
    files = {
        "sst2-tree/sst2graph.bin": b"SSTG"
        + struct.pack("<3i", len(sizes), tokens, words)
        + packed(numbers, "i"),
        "sst2-tree/glove100.bin": packed([rng.gauss(0, 1) for _ in range(words * 100)], "f"),
    }
    for name, ids in (("train", range(20)), ("valid", range(20, 25)), ("test", range(25, 30))):
        files[f"sst2-tree/split_{name}.txt"] = rows([(i,) for i in ids])
    return files


SETTINGS = {
    "mnist75sp": ["dataset.train_graphs=5", "dataset.validation_graphs=3", "dataset.test_graphs=4"]
}
MAKERS = {
    "twitch": twitch,
    "fb100": fb100,
    "cora": cora,
    "photo": photo,
    "elliptic": elliptic,
    "arxiv": arxiv,
    "molhiv": molhiv,
    "clintox": clintox,
    "drugood-ec50": drugood,
    "nci1": nci1,
    "webkb": webkb,
    "mnist75sp": mnist,
    "graph-sst2": graph_sst2,
    "sst2-tree": sst2_tree,
}
# good-hiv and good-pcba, the other sets of MoleculeNet and by size, good-webkb, good-twitch and good-cmnist read the same
# formats by the same code.


def write_all(folder):
    """Every dataset under `folder`; {dataset: its files}."""
    written = {}
    for name, maker in MAKERS.items():
        written[name] = []
        for path, data in maker(random.Random(7)).items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            written[name].append(path)
    return written
