"""The wheel: built without network, installed into a clean environment, used there."""

import os
import re
import subprocess
import sys

import grm
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(grm._grm.__file__))))


def run(*words, **more):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment.update(more.pop("env", {}))
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, **more)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "CMakeCache.txt")), reason="no build folder")
def test_the_wheel_installs_and_works(tmp_path):
    pytest.importorskip("build")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT,
        env={"GRM_BUILD": BUILD})
    wheels = [name for name in os.listdir(tmp_path) if name.endswith(".whl")]
    assert len(wheels) == 1 and grm.__version__ in wheels[0]
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", tmp_path / wheels[0])
    code = ("import grm, os; m = grm.Classifier('erm', epochs=2, hidden=4).fit(grm.datasets.sbm(nodes=120)); "
            "print(grm.show_config()['module']); assert os.path.exists(os.path.dirname(grm.__file__) + '/py.typed')")
    out = run(python, "-c", code, cwd=tmp_path)
    assert str(tmp_path / "venv") in out
    # The README's block runs there as it stands.
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    assert blocks
    assert 0 <= float(run(python, "-c", blocks[0], cwd=tmp_path).split()[-1]) <= 1
    # Without torch loaded first the environment is set in time.
    out = run(python, "-c", "import grm; print(grm.show_config()['environment'])", cwd=tmp_path)
    assert out.strip() == "in time"
