import pickle
import threading

import grm
import numpy as np
import pytest
import torch

TABLE = grm._grm.method_table()  # name, preset, level, ...
NODE_METHODS = sorted({row[0] for row in TABLE if row[2] == "node"})
GRAPH_METHODS = sorted({row[0] for row in TABLE if row[2] == "graph"})


def preset_of(method):
    """The preset that trains with a large learning rate, where there is one."""
    return f"{method}:fast" if (method, "fast") in {row[:2] for row in TABLE} else method


@pytest.mark.parametrize("method", NODE_METHODS)
def test_every_node_method_fits_on_pyg_data(method, pyg):
    train, validation, test = pyg
    seen = []
    model = grm.Classifier(preset_of(method), epochs=3).fit(train, validation, callbacks=seen.append)
    assert [e.epoch for e in seen] == [1, 2, 3]
    p = model.predict_proba(test[0])
    assert p.shape == (test[0].x.shape[0], 10)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    assert (model.predict(test[0]) == p.argmax(1)).all()
    assert 0 <= model.score(test) <= 1


@pytest.mark.parametrize("method", GRAPH_METHODS)
def test_every_graph_method_fits_on_lists_of_graphs(method, motifs):
    model = grm.Classifier(method, epochs=2, batch=8) if method != "trivial" else grm.Classifier(
        method, epochs=2)
    model.fit(motifs[:24], motifs[24:32])
    assert model.predict(motifs[32:]).shape == (8,)
    assert model.predict(motifs[32]).shape == (1,)


def test_it_learns(pyg, motifs):
    train, validation, test = pyg
    good = grm.Classifier("erm", epochs=60, hidden=32).fit(train, validation)
    assert good.score(validation) > 0.5  # ten classes: chance is 0.1
    rings = grm.Classifier("erm", epochs=40, batch=8, lr=0.01).fit(motifs[:24], motifs[24:32])
    assert rings.score(motifs[32:]) >= 0.75


def test_parameters_clone_and_pickle(pyg):
    sklearn = pytest.importorskip("sklearn.base")
    train, validation, test = pyg
    model = grm.Classifier("erm", seed=3, epochs=2, hidden=8)
    assert model.get_params()["hidden"] == 8
    copy = sklearn.clone(model)
    assert copy is not model and copy.get_params() == model.get_params()
    net = grm.Classifier("erm", backbone=torch.nn.Linear(3, 2))
    assert type(sklearn.clone(net).backbone) is torch.nn.Linear
    assert copy.set_params(hidden=4, seed=5).get_params()["hidden"] == 4 and model.seed == 3
    model.fit(train, validation)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(test[0]), model.predict_proba(test[0]))
    assert again._bytes == model._bytes


def test_save_and_load(tmp_path, pyg):
    train, validation, test = pyg
    model = grm.Classifier("grm:best", epochs=3, latent=16).fit(train, validation)
    model.save(tmp_path / "m.safetensors")
    back = grm.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(back.predict_proba(test[0]), model.predict_proba(test[0]))
    unsure = back.uncertainty(test[0])
    assert unsure.spread.shape == unsure.entropy.shape == (test[0].x.shape[0],)
    assert back.get_params()["method__latent"] == "16"
    fresh = grm.Classifier(**back.get_params()).fit(train, validation)
    for name, tensor in fresh.weights().items():
        assert torch.equal(tensor, model.weights()[name]), name


def test_explanation(pyg):
    pytest.importorskip("matplotlib").use("Agg")
    train, validation, test = pyg
    model = grm.Classifier("grm:best", epochs=2).fit(train, validation)
    why = model.explain(test[0], node=7)
    assert why.item == 7 and set(why.edges["fate"]) <= {"kept", "weakened", "new", "absent"}
    assert 7 in set(why.edges["source"]) | set(why.edges["target"])
    graph = why.to_networkx()
    assert graph.number_of_edges() == len(why.edges)
    axes = why.plot()
    assert "class" in axes.get_title() and axes.collections
    assert sum(len(c.get_offsets()) for c in axes.collections if hasattr(c, "get_sizes")) == len(why.nodes)


def test_callbacks_stop_and_fail(pyg):
    train, validation, test = pyg
    model = grm.Classifier("erm", epochs=50, hidden=8)
    model.fit(train, validation, callbacks=lambda e: e.epoch == 4)
    assert model.record_["epochs"] == 4 and len(model.history_) == 4
    before = model.predict_proba(test[0])

    class Stop(Exception):
        pass

    def fail(epoch):
        if epoch.epoch == 2:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        model.fit(train, validation, callbacks=fail)
    np.testing.assert_array_equal(model.predict_proba(test[0]), before)  # the old model is still whole
    model.fit(train, validation, callbacks=lambda e: e.epoch == 4)
    np.testing.assert_array_equal(model.predict_proba(test[0]), before)


def test_ctrl_c_leaves_a_checkpoint_that_resumes(tmp_path, pyg):
    import os
    import signal

    train, validation, test = pyg
    whole = grm.Classifier("erm", epochs=6, hidden=8).fit(train, validation, out=str(tmp_path / "whole"))

    def press(epoch):
        if epoch.epoch == 3:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = grm.Classifier("erm", epochs=6, hidden=8)
    with pytest.raises(KeyboardInterrupt) as caught:
        stopped.fit(train, validation, out=str(tmp_path / "runs"), callbacks=press)
    assert isinstance(caught.value, grm.Interrupted)
    assert os.path.exists(os.path.join(caught.value.folder, "state.safetensors"))
    seen = []
    stopped.fit(train, validation, out=str(tmp_path / "runs"), resume=True, callbacks=seen.append)
    assert [e.epoch for e in seen] == [4, 5, 6]
    assert stopped._bytes == whole._bytes  # the bits of an undisturbed run
    other = [type(g)(**{**vars(g), "x": g.x + 1}) for g in train]
    with pytest.raises(grm.DataError, match="other data"):
        stopped.fit(other, validation, out=str(tmp_path / "runs"), resume=True)


def test_two_threads_train_at_once(pyg):
    train, validation, test = pyg
    alone = [grm.Classifier("grm:best", seed=s, epochs=4).fit(train, validation) for s in (0, 1)]
    together = [grm.Classifier("grm:best", seed=s, epochs=4) for s in (0, 1)]
    ticks = []
    meet = threading.Barrier(2, timeout=60)  # broken unless both are inside fit at the same time

    def tick(epoch, model):
        ticks.append(id(model))
        meet.wait()

    workers = [threading.Thread(target=m.fit, args=(train, validation),
                                kwargs=dict(callbacks=lambda e, m=m: tick(e, m)))
               for m in together]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert len(set(ticks)) == 2 and len(ticks) == 8
    for one, other in zip(alone, together):
        assert one._bytes == other._bytes


def test_the_gil_is_free_while_training(pyg):
    train, validation, _ = pyg
    count, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            count[0] += 1
            done.wait(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    inside = []
    grm.Classifier("grm:paper", epochs=4).fit(train, validation,
                                              callbacks=lambda e: inside.append(count[0]))
    done.set()
    ticker.join()
    assert inside[-1] > inside[0]  # others ran between two callbacks


def test_mistakes_are_exceptions_with_the_programs_messages(pyg):
    train, validation, _ = pyg
    with pytest.raises(grm.ConfigError, match="did you mean 'hidden'"):
        grm.Classifier("erm", hiden=3).fit(train, validation)
    with pytest.raises(grm.ConfigError, match="not a method"):
        grm.Classifier("grn").fit(train, validation)
    with pytest.raises(grm.ConfigError, match="not trained"):
        grm.Classifier("erm").predict(train[0])
    with pytest.raises(grm.DeviceError):
        grm.Classifier("erm", device="cuda:7").fit(train, validation)
    bad = type(train[0])(x=train[0].x.clone(), edge_index=train[0].edge_index, y=train[0].y)
    bad.x[3, 1] = float("nan")
    with pytest.raises(grm.DataError, match="NaN"):
        grm.Classifier("erm").fit([bad], validation)
    model = grm.Classifier("erm", epochs=1, hidden=4).fit(train, validation)
    with pytest.raises(grm.ShapeError, match="features came"):
        model.predict((train[0].edge_index, train[0].x[:, :3]))
    with pytest.raises(grm.IoError):
        model.fit(train, validation, out="/proc/nowhere")
    with pytest.raises(grm.IoError, match="No such file"):
        grm.load("/nowhere/model.safetensors")
    assert issubclass(grm.DataError, ValueError) and issubclass(grm.ConfigError, grm.Error)


def test_many_fits_leak_nothing():
    import gc
    import os

    index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    graph = (index, torch.rand(4, 2), torch.tensor([0, 1, 0, 1]))

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def files():
        return len(os.listdir("/proc/self/fd"))

    def fits(count):
        for _ in range(count):
            model = grm.Classifier("erm", epochs=1, hidden=4, layers=1).fit([graph], [graph])
        return model.predict(graph)

    fits(100)
    before, open_files = resident(), files()
    fits(500)
    assert files() == open_files
    assert resident() - before < 8  # MiB; 16 KiB a fit would be more


def test_networks_and_failures_leave_nothing_behind():
    import gc
    import weakref

    index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    graph = (index, torch.rand(4, 2), torch.tensor([0, 1, 0, 1]))
    alive = weakref.WeakSet()

    class Net(torch.nn.Linear):
        def forward(self, x, edge_index):
            alive.add(self)  # the copy that trains
            return super().forward(x)

    def fail(epoch):
        raise KeyError("enough")

    for _ in range(5):
        model = grm.Classifier("erm", backbone=Net(2, 2), epochs=1).fit([graph], [graph])
        with pytest.raises(KeyError):
            model.fit([graph], [graph], callbacks=fail)
        model.predict(graph)
    assert len(alive) > 0
    del model
    gc.collect()
    assert len(alive) == 0
