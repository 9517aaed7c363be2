#!/usr/bin/env python3
"""Asks a model that `grm serve` has loaded, with Python's standard library alone.

    grm serve RUN --port 8080 &
    examples/serve/client.py http://127.0.0.1:8080 graph.npz
    examples/serve/client.py http://127.0.0.1:8080 folder-with-nodes-and-edges --explain ITEM
"""
import argparse
import json
import os
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request


def ask(address, path, body, content_type, token=""):
    """The answer as a Python object; SystemExit with the server's message for a refusal."""
    headers = {"Content-Type": content_type}
    if token:
        headers["Authorization"] = "Bearer " + token
    request = urllib.request.Request(address + path, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        sys.exit("refused with %d: %s" % (refused.code, json.load(refused)["error"]["message"]))
    except urllib.error.URLError as error:
        sys.exit("%s cannot be reached: %s" % (address, error.reason))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="the first line that grm serve prints")
    parser.add_argument("data", type=pathlib.Path, help=".npz file, or a folder with the model's tables")
    parser.add_argument("--model", default="", help="its name, where there are several")
    parser.add_argument("--explain", metavar="ITEM", help="why this node or graph")
    words = parser.parse_args()
    question = {"model": words.model} if words.model else {}
    if words.explain:
        question["item"] = words.explain
    path = "/v1/explain" if words.explain else "/v1/predict"
    token = os.environ.get("GRM_TOKEN", "")
    if words.data.is_dir():
        question["files"] = {table.name: table.read_text() for table in sorted(words.data.glob("*.csv"))}
        answer = ask(words.address, path, json.dumps(question).encode(), "application/json", token)
    else:
        address = path + "?" + urllib.parse.urlencode(question)
        answer = ask(words.address, address, words.data.read_bytes(), "application/octet-stream", token)
    if words.explain:
        print("%s: %s with probability %.4f" % (answer["name"], answer["predicted"]["label"],
                                                answer["predicted"]["probability"]))
        heavy = sorted(answer["edges"], key=lambda edge: -edge["weight"])[:5]
        for edge in heavy:
            print("  %s - %s  weight %.4f, %s" % (edge["source"], edge["target"], edge["weight"], edge["fate"]))
        return
    for row in answer["predictions"]:
        print("%s %s: %s (%.4f)" % (row["domain"], row["id"], row["label"], max(row["probabilities"])))


main()
