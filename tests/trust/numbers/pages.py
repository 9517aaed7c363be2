"""The tables, pictures and first sentences of a report."""

import re

from expected import mean
from scores import check, check_scores, constant_rows, read, spread_of
from tables import Page


def row_names(all_, rows):
    """Names of rows in a report -> (method, variant): "erm:gcn (centre=domain)", "erm (centred)"."""
    names = {}
    for name in rows:
        found = re.match(r"^(\w+)(?::[\w-]+)?(?: \((.*)\))?$", name)
        if found and found[1] in all_.methods:
            names[name] = (found[1], {"centre=domain": "centred", None: "plain"}.get(found[2], found[2]))
    check.same("rows of a report", sorted(names.values()),
               sorted((m, v) for m in all_.methods for v in all_.variants))
    return names


METRICS = {"accuracy": "accuracy", "macro_f1": "macro F1", "roc_auc": "ROC-AUC"}


def check_page(all_, name):
    page = Page(read(name))
    for label, one in all_.data.items():
        found = [t for t in page.tables if t["caption"] == f"{label}, {METRICS[one.metric]}"]
        check.same(f"{name}: tables of {label}", len(found), 1)
        rows = {row[0]: row[1:] for row in found[0]["rows"]}
        names = row_names(all_, rows)
        check.same(f"{name}: columns of {label}", found[0]["head"],
                   ["method"] + one.groups_of("test") + ["Min", "Avg", "validation", "runs"])
        check_scores(all_, name, label, found[0]["head"][1:], rows, names, True)
        check_headline(all_, page, label, names)
        check_chart(all_, page, label, names)
    both = [t for t in page.tables if t["caption"] == "Min and Avg of every method"]
    check.same(f"{name}: tables of all datasets", len(both), 1)
    names = row_names(all_, [row[0] for row in both[0]["rows"]])
    for label in all_.data:
        places = [k for k, group in enumerate(both[0]["groups"]) if group == label]
        mine = {row[0]: [row[k] for k in places] for row in both[0]["rows"]}
        check_scores(all_, name, label, [both[0]["head"][k] for k in places], mine, names, True)
    check_averages(all_, page, names)
    runs = [t for t in page.tables if t["caption"] == "Runs"][0]
    check.same(f"{name}: rows of runs", len(runs["rows"]), len(all_.cells))
    for row in runs["rows"]:
        line = dict(zip(runs["head"], row))
        variant = {"centre=domain": "centred", "": "plain"}.get(line["options"], line["options"])
        cell = all_.cells[(line["dataset"], line["method"].split(":")[0], variant)]
        check.shown(f"{name}: {row}", line["validation"], cell.validation[0], spread_of(cell, cell.validation))


def check_headline(all_, page, label, names):
    one = all_.data[label]
    item = [each for each in page.items if each.startswith(label + ": ")][0]
    chosen = all_.chosen(label, list(names.values()))
    cell = all_.cells[(label,) + chosen]
    shown = next(name for name, key in names.items() if key == chosen)
    number = r"(\d+\.\d) ± (\d+\.\d)"
    found = re.search(rf"of (\d+) candidates, validation chooses (.*?) \({number} there\)\. On test it has "
                      rf"{METRICS[one.metric]} {number} on average over (\d+) test domains and {number} on the worst, "
                      rf"(\w+);", item)
    check.same(f"headline of {label}: {item}", bool(found), True)
    if not found:
        return
    check.same("candidates", (int(found[1]), found[2], int(found[7])), (len(names), shown, len(cell.domains)))
    values = cell.validation + cell.avg + cell.min
    for text, value in zip((found[3], found[4], found[5], found[6], found[8], found[9]), values):
        check.near(f"headline of {label}", float(text), value, 0.05 + 1e-6)
    for name, values in constant_rows(one).items():
        about = {"train majority": "always training's majority class", "constant": "the same answer for all, whichever it is",
                 "own majority": "always the test domain's own majority class"}[name]
        told = re.search(re.escape(about) + r" has (\d+\.\d)", item)
        check.near(f"headline of {label}, {name}", float(told[1]) if told else None, mean(list(values.values())),
                   0.05 + 1e-6)
    tests = 0
    for name, key in names.items():
        for told in re.finditer(re.escape(name) + r" against (.*?): ([+-]\d+\.\d) points, p = (\d\.\d+) "
                                r"\(paired t-test over (\d+) runs\)", item):
            difference, p, _, pairs, reference = all_.test_of(label, *key, True)
            check.same(f"headline of {label}, {name}", (names[told[1]], int(told[4])), (reference[1:], pairs))
            check.near(f"headline of {label}, {name}", float(told[2]), difference, 0.05 + 1e-6)
            check.near(f"headline of {label}, {name}", float(told[3]), p, 0.0005 + 1e-6)
            tests += 1
    check.same(f"tests in the headline of {label}", tests, 3)


def check_chart(all_, page, label, names):
    """The numbers behind the picture of a dataset's domains."""
    one = all_.data[label]
    found = [t for t in page.tables if t["head"][:1] == [""] and list(names)[0] in t["head"] and
             [row[0] for row in t["rows"]] == one.groups_of("test")]
    wrong = []
    for table in found:  # datasets may share domains: one of the tables is this one's
        misses = 0
        for row in table["rows"]:
            for name, text in zip(table["head"][1:], row[1:]):
                value = (all_.cells[(label,) + names[name]].domains[row[0]][0] if name in names
                         else constant_rows(one).get(name, {}).get(row[0], -1))
                misses += abs(float(text.split(" ")[0]) - value) > 0.06
        wrong.append(misses)
    check.same(f"numbers of the picture of {label}", min(wrong or [1]), 0)


def check_averages(all_, page, names):
    """The numbers behind the picture of all datasets."""
    found = [t for t in page.tables if sorted(row[0] for row in t["rows"]) == sorted(all_.data) and t["head"][0] == ""]
    check.same("pictures of all datasets", len(found), 1)
    for row in found[0]["rows"]:
        for name, text in zip(found[0]["head"][1:], row[1:]):
            value, spread = all_.cells[(row[0],) + names[name]].avg
            shown = text.split(" ± ")
            check.near(f"picture of {row[0]}, {name}", float(shown[0]), value, 0.05 + 1e-6)
            check.near(f"picture of {row[0]}, {name}", float(shown[1]), spread, 0.05 * max(1, spread) + 1e-6)
