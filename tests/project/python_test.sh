#!/usr/bin/env bash
# The Python package: all tests of tests/python, where it is built (GRM_PYTHON) and Python has torch.
source "$(dirname "$0")/../cli/lib.sh" "$@"
build=$(cd "$(dirname "$grm")" && pwd)
if [ ! -r "$build/python/interpreter" ] || ! compgen -G "$build/python/grm/_grm*.so" > /dev/null; then
  echo "skipped: the Python package is not built: it needs python3-torch and pybind11-dev (make python)"
  exit 77
fi
python=$(cat "$build/python/interpreter")
for module in torch pytest; do
  $python -c "import $module" 2> /dev/null || { echo "skipped: $python has no $module"; exit 77; }
done
export GRM=$grm PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$work/mpl IPYTHONDIR=$work/ipython
$python -m pytest -q -p no:cacheprovider --durations=8 -rs "$source_dir/tests/python" > out 2>&1
code=$?
tail -n 60 out
# Parts that were left out, one line each.
sed -n 's/^SKIPPED \[[0-9]*\] [^ ]*: /skipped: /p' out
exit $code
