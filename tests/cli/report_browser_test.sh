#!/usr/bin/env bash
# Goes through a report in headless Chromium (tests/web/report_views.py): every view, four widths, light and dark, sorting,
# filters, hovering, sliders, keyboard, contrast, names of controls, and a page whose names are scripts.
python=/usr/bin/python3
[ -x $python ] || { echo "skipped: there is no $python"; exit 77; }
source "$(dirname "$0")/lib.sh" "$@"
unset GRM_DATA
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8

"$grm" train --dataset sbm --set dataset.nodes=120 --epochs 4 --method erm,grm,mmd --seeds 2 -q > /dev/null 2>&1
check "a report to look at" "$grm" report runs -q

# The same with scripts in the place of every name and label.
attack='<script>window.hit=1</script><img src=x onerror="window.hit=1"><b>'
$python - "$attack" <<'PY'
import json, re, sys
page = open("report.html", encoding="utf-8").read()
head, data, tail = re.split(r'(?<=id="document">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.S)
def spoiled(value, key=""):
    if isinstance(value, str):
        fixed = key in ("schema", "rule", "metric", "role", "level", "state", "sections", "what", "roles")
        return value if fixed else sys.argv[1] + value
    if isinstance(value, list):
        return [spoiled(v, key) for v in value]
    return {k: spoiled(v, k) for k, v in value.items()} if isinstance(value, dict) else value
text = json.dumps(spoiled(json.loads(data))).replace("<", "\\u003c")
open("hostile.html", "w", encoding="utf-8").write(head + text + tail)
PY
# And through the program itself: titles and names of runs.
check "a title that is a script" "$grm" report runs --no-data --title "$attack" --out title.html -q
check "stays text" bash -c "! grep -qF '<script>window.hit' title.html"

# axe-core looks at accessibility, where npm can fetch it.
command -v npm > /dev/null && timeout 60 npm install --no-audit --no-fund --silent axe-core > /dev/null 2>&1

$python "$source_dir/tests/web/report_views.py" report.html hostile.html ${GRM_SHOTS:+"$GRM_SHOTS"} > views 2>&1
code=$?
cat views
[ $code = 77 ] && exit 77
check "all views" [ $code = 0 ]

# 20 runs are less than 2 MB.
"$grm" train --dataset sbm --set dataset.nodes=60 --epochs 2 --method erm,grm,mmd,eerm --seeds 5 --out many -q > /dev/null 2>&1
expect_exit 0 "a report of 20 runs" "$grm" report many --out many.html --json
check "is less than 2 MB" jq -e '.runs == 20 and .bytes < 2000000' out

# A study with a search, on data of which one has published values.
cat > everything.toml <<'E'
name = "everything"
about = "a small study that fills every view"
seeds = 2
methods = ["erm", "grm"]
datasets = ["sbm", "spmotif"]
[set]
train.epochs = 3
train.test = "selected"
[[when]]
dataset = "sbm"
set.dataset.nodes = 60
[[when]]
dataset = "spmotif"
set.dataset.train_per_class = 15
set.dataset.val_per_class = 10
set.dataset.test_per_class = 10
[tune]
search = "random"
trials = 4
seeds = 1
first_seed = 5000
[tune.space]
"method.lr" = [1e-3, 3e-3, 1e-2, 3e-2]
E
check "a tuned study" "$grm" study tune everything.toml --jobs 2 -q
check "its report" "$grm" report --study everything --out study.html -q
$python "$source_dir/tests/web/study_views.py" study.html many.html "${GRM_SHOTS:-.}" > views 2>&1
code=$?
cat views
check "the views of a study" [ $code = 0 ]
finish
