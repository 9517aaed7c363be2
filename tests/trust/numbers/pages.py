"""The tables, the document and the first sentences of a report."""

import json
import re

from expected import mean
from scores import check, check_scores, constant_rows, read, spread_of
from tables import Page, document_of


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
    document = json.loads(document_of(read(name)))
    check.same(f"{name}: datasets", sorted(d["name"] for d in document["datasets"]), sorted(all_.data))
    for label, one in all_.data.items():
        found = [t for t in page.tables if t["caption"] == f"{label}, {METRICS[one.metric]}"]
        check.same(f"{name}: tables of {label}", len(found), 1)
        rows = {row[0]: row[1:] for row in found[0]["rows"]}
        names = row_names(all_, rows)
        check.same(f"{name}: columns of {label}", found[0]["head"],
                   ["method"] + one.groups_of("test") + ["Min", "Avg", "validation", "runs"])
        check_scores(all_, name, label, found[0]["head"][1:], rows, names, True)
        check_headline(all_, page, label, names)
        check_dataset(all_, name, document, label, names)
    both = [t for t in page.tables if t["caption"] == "Min and Avg of every method"]
    check.same(f"{name}: tables of all datasets", len(both), 1)
    names = row_names(all_, [row[0] for row in both[0]["rows"]])
    for label in all_.data:
        places = [k for k, group in enumerate(both[0]["groups"]) if group == label]
        mine = {row[0]: [row[k] for k in places] for row in both[0]["rows"]}
        check_scores(all_, name, label, [both[0]["head"][k] for k in places], mine, names, True)
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


def check_dataset(all_, where, document, label, names):
    """Every number that the page draws of a dataset: means, deviations, single runs, tests, constant answers."""
    one = all_.data[label]
    got = next(d for d in document["datasets"] if d["name"] == label)
    where = f"{where}: document of {label}"
    check.same(where + ", metric", (got["metric"], got["metric_name"]), (one.metric, METRICS[one.metric]))
    check.same(where + ", domains", got["domains"], one.groups_of("test"))
    check.same(where + ", choice", names[got["chosen"]], all_.chosen(label, list(names.values())))
    check.same(where + ", rows", sorted(row["name"] for row in got["rows"]), sorted(names))
    check.same(where + ", constants", [c["name"] for c in got["constants"]], list(constant_rows(one)))
    for constant in got["constants"]:
        values = constant_rows(one)[constant["name"]]
        check.near(where + " " + constant["name"], constant["avg"], mean(list(values.values())))
        check.near(where + " " + constant["name"], constant["min"], min(values.values()))
        for domain, value in zip(got["domains"], constant["scores"]):
            check.near(f"{where} {constant['name']} {domain}", value, values[domain])
    for row in got["rows"]:
        cell = all_.cells[(label,) + names[row["name"]]]
        at = f"{where}, {row['name']}"
        check.same(at + " runs", (row["runs"], row["expected"], len(row["each"])), (len(cell.runs),) * 3)
        for key in ("min", "avg", "min_per_run", "validation"):
            check.near(f"{at} {key}", row[key]["mean"], getattr(cell, key)[0])
            check.near(f"{at} {key}", row[key]["std"], getattr(cell, key)[1])
        check.near(at + " worst", cell.domains[row["min"]["domain"]][0], cell.min[0])
        for domain, score in zip(got["domains"], row["scores"]):
            check.near(f"{at} {domain}", score["mean"], cell.domains[domain][0])
            check.near(f"{at} {domain}", score["std"], cell.domains[domain][1])
        for each in row["each"]:
            run = cell.runs[each["seed"]]
            check.near(f"{at} seed {each['seed']}", each["avg"], run.avg)
            for domain, score in zip(got["domains"], each["scores"]):
                check.near(f"{at} seed {each['seed']} {domain}", score, run.test[domain])
        test = all_.test_of(label, *names[row["name"]], True)
        check.same(at + " has a test", "test" in row, test is not None)
        if test:
            difference, p, mark, pairs, reference = test
            check.same(at + " test", (row["test"]["pairs"], row["mark"], names[row["against"]]), (pairs, mark, reference[1:]))
            check.near(at + " difference", row["test"]["difference"], difference)
            check.near(at + " p", row["test"]["p"], p, 1e-6)
            check.near(at + " interval", row["test"]["high"] + row["test"]["low"], 2 * difference, 1e-6)
            half = T975[pairs - 1] * row["test"]["deviation"] / pairs ** 0.5
            check.near(at + " interval", row["test"]["high"] - difference, half, 1e-3 * max(1, half))


# 97.5 % quantiles of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}
