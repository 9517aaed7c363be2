import types

import grm
import numpy as np
import pytest
import torch

INDEX = [[0, 1, 2, 3], [1, 2, 3, 0]]
X = np.arange(12, dtype=np.float32).reshape(4, 3)
Y = [0, 1, 0, 1]


def same(graph, x=X, y=Y, index=INDEX):
    assert graph.features().tolist() == np.asarray(x).tolist()
    assert graph.y.tolist() == list(y)
    assert {tuple(p) for p in graph.edge_index.t().tolist()} == {tuple(p) for p in zip(*index)}


def built(data):
    from grm._inputs import Collected

    return Collected(data, None).build("train", [])[0]


def test_nothing_is_copied():
    x = torch.rand(5, 4)
    graph = grm.graph(torch.tensor([[0, 1], [1, 2]]), x)
    assert graph.x.data_ptr() == x.data_ptr()
    array = np.random.rand(5, 4).astype(np.float32)
    graph = grm.graph(np.array([[0, 1], [1, 2]]), array)
    assert graph.x.data_ptr() == array.__array_interface__["data"][0]
    data = types.SimpleNamespace(x=x, edge_index=torch.tensor([[0], [1]]), y=torch.zeros(5).long())
    assert built(data).x.data_ptr() == x.data_ptr()
    # Another type or layout is a copy, of course.
    assert grm.graph(torch.tensor([[0], [1]]), x.double()).x.data_ptr() != x.data_ptr()


def test_sparse_features_stay_sparse_and_are_not_copied():
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.random(6, 50, density=0.1, format="csr", dtype=np.float32, random_state=0)
    graph = grm.graph(np.array([[0, 1], [1, 2]]), x)
    offsets, indices, values, columns = graph.x_sparse
    assert graph.x is None and columns == 50
    assert indices.data_ptr() == x.indices.__array_interface__["data"][0]
    assert values.data_ptr() == x.data.__array_interface__["data"][0]
    np.testing.assert_array_equal(graph.features().numpy(), x.toarray())


def test_the_model_keeps_the_tensors_of_the_caller(pyg):
    """Through fit and predict: the engine trains on the very memory that it was given."""
    from grm._classifier import make_task

    train, validation, test = pyg
    task = make_task(train, validation, test, None, None, 0)
    config = grm.Classifier("erm")._config("in-memory")
    taken = config.take(task)
    for given, graph in zip(train + validation + test, taken.train + taken.validation + taken.test):
        assert graph.x.data_ptr() == given.x.data_ptr()


def test_tuples_arrays_and_sparse_adjacency():
    sparse = pytest.importorskip("scipy.sparse")
    same(built((torch.tensor(INDEX), torch.from_numpy(X), torch.tensor(Y))))
    same(built((np.array(INDEX), X, np.array(Y))))
    same(built((list(zip(*INDEX)), X, Y)))  # pairs
    matrix = sparse.coo_matrix((np.ones(4), (INDEX[0], INDEX[1])), shape=(4, 4))
    same(built((matrix, X, Y)))
    same(built((matrix.tocsr(), sparse.csr_matrix(X), Y)))
    same(built({"edge_index": INDEX, "x": X, "y": Y}))


def test_networkx_and_pandas():
    nx, pd = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    graph = nx.DiGraph(zip(*INDEX))
    graph.add_nodes_from((k, {"x": X[k], "y": Y[k]}) for k in range(4))
    ordered = nx.DiGraph()
    ordered.add_nodes_from((k, graph.nodes[k]) for k in range(4))
    ordered.add_edges_from(graph.edges)
    same(built(ordered))
    undirected = ordered.to_undirected()
    assert built(undirected).num_edges == 8
    nodes = pd.DataFrame({"id": list("abcd"), "p": X[:, 0], "q": X[:, 1], "r": X[:, 2], "y": Y})
    edges = pd.DataFrame({"source": list("abcd"), "target": list("bcda")})
    same(built((nodes, edges)))
    assert built((nodes, edges)).item_names == list("abcd")
    with pytest.raises(grm.DataError, match="get_dummies"):
        grm.from_pandas(nodes.assign(p="text"), edges, id="id")
    with pytest.raises(grm.DataError, match="which is no node"):
        grm.from_pandas(nodes, edges.replace("a", "z"), id="id")


def test_labels_of_text_missing_labels_and_masks():
    words = np.array(["cat", "dog", None, "dog"], dtype=object)
    model = grm.Classifier("erm", epochs=1, hidden=4).fit((np.array(INDEX), X, words),
                                                           (np.array(INDEX), X, words))
    assert list(model.classes_) == ["cat", "dog"]
    assert set(model.predict((np.array(INDEX), X))) <= {"cat", "dog"}
    data = types.SimpleNamespace(
        x=torch.from_numpy(X), edge_index=torch.tensor(INDEX), y=torch.tensor(Y),
        train_mask=torch.tensor([True, True, False, False]),
        val_mask=torch.tensor([False, False, True, False]),
        test_mask=torch.tensor([False, False, False, True]))
    from grm._classifier import make_task

    task = make_task(data, None, data, None, None, 0)
    assert task.train[0].loss_items.tolist() == [0, 1]
    assert task.validation[0].counted_items.tolist() == [2]
    assert task.test[0].counted_items.tolist() == [3]
    model = grm.Classifier("erm", epochs=1, hidden=4).fit(data)
    assert model.score(data) in (0.0, 1.0)  # one node


def test_without_validation_a_fifth_is_set_aside():
    from grm._classifier import make_task

    y = torch.arange(50) % 2
    graph = (torch.tensor([[0], [1]]), torch.rand(50, 2), y)
    task = make_task(graph, None, None, None, None, 0)
    held, used = task.validation[0].counted_items.tolist(), task.train[0].loss_items.tolist()
    assert len(held) == 10 and sorted(held + used) == list(range(50))
    assert task.validation[0].x.data_ptr() == task.train[0].x.data_ptr()


def test_sets_of_graphs(motifs):
    whole = grm.graphs(motifs)
    assert whole.level == "graph" and whole.num_items == 40
    packed = types.SimpleNamespace(
        x=torch.cat([g.x for g in motifs[:3]]),
        edge_index=torch.cat([g.edge_index + s for g, s in zip(motifs, (0, 6, 13))], 1),
        y=torch.cat([g.y for g in motifs[:3]]),
        batch=torch.tensor([0] * 6 + [1] * 7 + [2] * 8))
    both = built(packed), grm.graphs(motifs[:3])
    assert both[0].parts.tolist() == both[1].parts.tolist() == [0, 6, 13, 21]
    assert both[0].edge_index.tolist() == both[1].edge_index.tolist()
    from grm._inputs import Collected

    several = Collected([motifs[:10], motifs[10:30]], None)
    assert several.level == "graph" and [g.num_items for g in several.build("train", [])] == [10, 20]


def test_what_is_no_graph_says_so():
    with pytest.raises(grm.DataError, match="is no graph"):
        grm.Classifier("erm").fit([3])
    with pytest.raises(grm.ShapeError, match="edge_index"):
        grm.graph(torch.zeros(3, 5).long(), torch.rand(4, 2))
    with pytest.raises(grm.DataError):
        grm.graph(torch.tensor([[0, 9], [1, 2]]), torch.rand(4, 2))
    with pytest.raises(grm.ShapeError, match="a label for each node"):
        grm.graph(torch.tensor([[0], [1]]), torch.rand(4, 2), torch.tensor([0, 1]))
