"""Parquet through pandas. Without pyarrow the reading itself is replaced; the rest is the same."""

import os

import pytest

import grm
from grm import parquet

pandas = pytest.importorskip("pandas")


def has_engine():
    for name in ("pyarrow", "fastparquet"):
        try:
            __import__(name)
            return True
        except ImportError:
            pass
    return False


def frames():
    return {"nodes": pandas.DataFrame({"id": ["n1", "n2", "n3", "n4"], "label": [0, 1, 0, 1],
                                       "age": [1.0, None, 5.0, 7.0]}),
            "edges": pandas.DataFrame({"source": ["n1", "n2", "n3"], "target": ["n2", "n3", "n4"]})}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    kept = {}
    for domain in ("a", "b"):
        (tmp_path / domain).mkdir()
        for name, frame in frames().items():
            path = str(tmp_path / domain / f"{name}.parquet")
            if has_engine():
                frame.to_parquet(path)
            else:
                open(path, "wb").write(b"PAR1")
                kept[path] = frame
    (tmp_path / "dataset.toml").write_text('name = "p"\nmissing = "mean"\n[train]\ndomains = ["a"]\n'
                                           '[validation]\ndomains = ["b"]\n')
    if not has_engine():
        monkeypatch.setattr(pandas, "read_parquet", lambda path: kept[path])
        monkeypatch.setattr(parquet, "_engine", lambda: None)
    return tmp_path


def test_the_program_names_the_command_and_the_command_makes_the_data_readable(folder, capsys):
    with pytest.raises(grm.DataError, match="python3 -m grm.parquet"):
        grm.Classifier("erm", epochs=1).fit(str(folder))
    assert parquet.main([str(folder)]) == 0
    lines = capsys.readouterr().out.split()
    assert lines == [str(folder / d / f"{n}.csv") for d in ("a", "b") for n in ("edges", "nodes")]
    assert (folder / "a" / "nodes.csv").read_text().splitlines() == \
        ["id,label,age", "n1,0,1.0", "n2,1,", "n3,0,5.0", "n4,1,7.0"]
    model = grm.Classifier("erm", epochs=1).fit(str(folder))
    assert model is not None
    assert parquet.to_csv(str(folder)) == []  # nothing is newer
    assert len(parquet.to_csv(str(folder), overwrite=True)) == 4


def test_lists_in_cells_are_refused(folder, monkeypatch):
    monkeypatch.setattr(pandas, "read_parquet", lambda path: pandas.DataFrame({"id": [1], "x": [[1, 2]]}))
    with pytest.raises(grm.DataError, match="column 'x' holds lists"):
        parquet.to_csv(str(folder))


def test_messages_say_what_to_install(tmp_path, capsys):
    assert parquet.main([str(tmp_path / "none")]) == 3
    assert parquet.main([str(tmp_path)]) == 3
    assert "holds no .parquet file" in capsys.readouterr().err
    if has_engine():
        pytest.skip("an engine is installed")
    open(os.path.join(tmp_path, "nodes.parquet"), "wb").write(b"PAR1")
    assert parquet.main([str(tmp_path)]) == 3
    assert "pyarrow" in capsys.readouterr().err
