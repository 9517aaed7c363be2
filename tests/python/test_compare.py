import grm
import numpy as np
import pytest

pd = pytest.importorskip("pandas")


def test_compare_is_a_table_with_deviations_and_paired_tests(pyg):
    stats = pytest.importorskip("scipy.stats")
    train, validation, test = pyg
    table = grm.compare(["erm", "grm:best"], train, validation, test, seeds=3, epochs=4, hidden=8, latent=8)
    runs = table.attrs["runs"]
    assert list(table.index) == ["erm", "grm:best"] and len(runs) == 6
    erm, best = (runs[runs["method"] == m]["average"].to_numpy() for m in table.index)
    assert table.loc["erm", "average"] == pytest.approx(erm.mean())
    assert table.loc["erm", "average ±"] == pytest.approx(erm.std(ddof=1))
    assert table.loc["grm:best", "difference"] == pytest.approx((best - erm).mean())
    if (best - erm).std() > 0:
        assert table.loc["grm:best", "p"] == pytest.approx(stats.ttest_rel(best, erm).pvalue)
    assert np.isnan(table.loc["erm", "p"])
    again = grm.Classifier("erm", seed=1000, epochs=4, hidden=8).fit(train, validation, test)
    assert again.score(test) * 100 == pytest.approx(erm[0])


def test_shift(pyg, sbm):
    train, _, test = pyg
    same = grm.shift(train, train)
    moved = grm.shift(train, [type(g)(x=g.x + 5, edge_index=g.edge_index, y=g.y) for g in test])
    assert same.verdict == "none" and moved.verdict == "strong"
    assert moved.table["features"].min() > same.table["features"].max()
    assert "verdict" in moved.table.columns and moved.text and moved.advice
    whole = grm.shift(sbm)
    assert set(whole.table["role"]) == {"validation", "test"}
    with pytest.raises(grm.ConfigError):
        grm.shift(train)


def test_a_study_runs_and_becomes_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text(
        'name = "my"\nseeds = 2\ndatasets = ["sbm"]\nmethods = ["erm"]\n'
        '[set]\n"dataset.nodes" = 120\n"train.epochs" = 2\n')
    study = grm.study("my.toml")
    assert len(study.cells()) == 2
    table = study.run(jobs=2, threads=1).table()
    assert study.failed == []
    assert list(table["method"]) == ["erm"] and set(table["runs"]) == {2}
    assert table["avg"].between(0, 100).all() and table["avg ±"].notna().all()
    assert grm.study("my.toml").table().equals(table)  # from the database


def test_tables_of_methods_options_and_datasets():
    methods = grm.methods()
    assert set(methods.loc["grm:best", "level"]) == {"node", "graph"}
    options = grm.options("grm:best")
    assert options.loc["lr", "type"] == "number" and options.loc["epochs", "section"] == "train"
    assert grm.options("dir").loc["lr", "section"] == "method"
    options = grm.options("grm", level="graph").set_index("section", append=True)
    assert options.loc[("batch", "method"), "value"] == "32"
    with pytest.raises(grm.ConfigError, match="not a method"):
        grm.options("grn")
    assert "twitch" in grm.datasets.table().index and "cora_mix" in dir(grm.datasets)
    with pytest.raises(AttributeError):
        grm.datasets.nothing
    facts = grm.show_config()
    assert facts["version"] == grm.__version__ and facts["threads"] == grm.threads()
    assert facts["blas"] != "unknown" and facts["environment"]
