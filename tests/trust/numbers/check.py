"""Compares every number of a study's tables, of reports and of `grm eval` with those of expected.py.

check.py cells.json: status of the study; predictions are in predictions/ID.csv by place in it, what was printed lies
beside it.
"""

import csv
import json
import sys

from expected import check_with_sklearn, constants, mean
from pages import check_page
from scores import NAMES, Expected, check, check_scores, read
from tables import markdown_tables, text_tables


def check_json(all_, table):
    check.same("blocks", [b["block"] for b in table["blocks"]], all_.variants)
    for block in table["blocks"]:
        check.same("columns", sorted(d["dataset"] for d in block["datasets"]), sorted(all_.data))
        for column in block["datasets"]:
            label, variant = column["dataset"], block["block"]
            one = all_.data[label]
            check.same(f"{label}: metric", column["metric"], one.metric)
            for key, values in constants(one, "test").items():
                if one.metric == "roc_auc" and key == "constant_own":
                    continue
                where = f"json {label} {key}"
                check.near(where, column[key]["avg"], mean(list(values.values())))
                check.near(where, column[key]["min"], min(values.values()))
                for row in column[key]["domains"]:
                    check.near(where, row["value"], values[row["domain"]])
            check.same(f"{label}: choice", column["chosen_by_validation"],
                       all_.chosen(label, [(m, variant) for m in all_.methods])[0])
            check.same(f"{label}: methods", [m["method"] for m in column["methods"]], all_.methods)
            for got in column["methods"]:
                cell = all_.cells[(label, got["method"], variant)]
                where = f"json {label} {got['method']} {variant}"
                check.same(where + " runs", (got["runs"], got["expected"]), (len(cell.runs), len(cell.runs)))
                for key in ("min", "avg", "min_per_run", "validation"):
                    check.near(where + " " + key, got[key]["mean"], getattr(cell, key)[0])
                    check.near(where + " " + key, got[key]["std"], getattr(cell, key)[1])
                check.same(where + " domains", [d["domain"] for d in got["domains"]], list(cell.domains))
                check.near(where + " worst", cell.domains[got["min"]["domain"]][0], cell.min[0])
                for row in got["domains"]:
                    check.near(where + " " + row["domain"], row["mean"], cell.domains[row["domain"]][0])
                    check.near(where + " " + row["domain"], row["std"], cell.domains[row["domain"]][1])
                test = all_.test_of(label, got["method"], variant, False)
                check.same(where + " has a test", "test" in got, test is not None)
                if test:
                    check.same(where + " pairs", got["test"]["pairs"], test[3])
                    check.near(where + " difference", got["test"]["difference"], test[0])
                    check.near(where + " p", got["test"]["p"], test[1], 1e-6)
                    check.same(where + " mark", got["test"]["mark"], {0: "", 1: "better", -1: "worse"}[test[2]])


def check_csv(all_):
    lines = list(csv.DictReader(read("table.csv").splitlines()))
    check.same("lines of the csv", len(lines),
               sum(len(c.domains) * len(c.runs) for c in all_.cells.values()))
    for row in lines:
        run = all_.cells[(row["dataset"], row["method"], row["variant"])].runs[int(row["seed"])]
        check.near(f"csv {row}", float(row["score"]), run.test[row["domain"]])
    lines = list(csv.DictReader(read("table.summary-csv").splitlines()))
    check.same("lines of the summary", len(lines), sum(len(c.domains) + 3 for c in all_.cells.values()))
    for row in lines:
        cell = all_.cells[(row["dataset"], row["method"], row["block"])]
        columns = dict(cell.domains, Min=cell.min, Avg=cell.avg, MinPerRun=cell.min_per_run)
        check.near(f"summary {row}", float(row["mean"]), columns[row["column"]][0])
        check.near(f"summary {row}", float(row["std"]), columns[row["column"]][1])
        test = all_.test_of(row["dataset"], row["method"], row["block"], False)
        check.same(f"summary {row} has p", row["p"] != "", row["column"] == "Avg" and test is not None)
        if row["p"]:
            check.near(f"summary {row}", float(row["p"]), test[1], 1e-6)


def check_blocks(all_, where, tables):
    """One table for each variant: method, then Min, Avg and runs of every dataset in order."""
    check.same(where + ": tables", len(tables), len(all_.variants))
    labels = [d["dataset"] for d in json.loads(read("table.json"))["blocks"][0]["datasets"]]
    for variant, (header, rows) in zip(all_.variants, tables):
        check.same(where + ": columns", len(header), 1 + 3 * len(labels))
        names = {m: (m, variant) for m in all_.methods}
        for k, label in enumerate(labels):
            mine = {row[0]: row[1 + 3 * k:4 + 3 * k] for row in rows}
            check_scores(all_, where, label, ["Min", "Avg", "runs"], mine, names, False)


def check_text(all_):
    tables = []
    known = set(all_.methods) | set(NAMES.values()) | {"constant"}
    for above, header, rows in text_tables(read("table.text"), known):
        if any(line.startswith("Block ") for line in above):
            tables.append((header, rows))
        else:  # a wide table goes on
            tables[-1] = (tables[-1][0] + header[1:], [a + b[1:] for a, b in zip(tables[-1][1], rows)])
    check_blocks(all_, "text", tables)
    check_blocks(all_, "markdown", [t for t in markdown_tables(read("table.markdown")) if t[0][0] == "method"])


def check_eval(all_, folder, text):
    got = json.loads(text)
    one, run = all_.folders[folder]
    check.near(folder + " min", got["min"], min(run.test.values()))
    check.near(folder + " avg", got["avg"], run.avg)
    check.same(folder + " domains", [(d["role"], d["domain"]) for d in got["domains"]],
               [(role, group) for role in ("train", "validation", "test") for group in one.groups_of(role)])
    for row in got["domains"]:
        where = f"eval {folder} {row['domain']}"
        if got["method"] == "erm" or row["role"] != "train":  # see data.py
            check.near(where, row["value"], run.scores[row["role"]][row["domain"]])
        for key, values in constants(one, row["role"]).items():
            check.near(where + " " + key, row[key], values[row["domain"]])


def main():
    check_with_sklearn()
    all_ = Expected(json.loads(read(sys.argv[1])))
    check_json(all_, json.loads(read("table.json")))
    check_csv(all_)
    check_text(all_)
    for page in ("study.html", "runs.html"):
        check_page(all_, page)
    for line in read("evaluated").splitlines():
        number, folder = line.split(" ", 1)
        check_eval(all_, folder, read(f"eval{number}.json"))
    print(f"{check.done} numbers and names compared, {check.wrong} are wrong")
    sys.exit(check.wrong > 0 or check.done < 1000)


main()
