"""studio_check.py ADDRESS read|write|many: what `grm ui` answers, without a browser."""
import http.client
import io
import json
import os
import sys
import time
import urllib.parse

address, part = sys.argv[1], sys.argv[2]
url = urllib.parse.urlparse(address)
token = urllib.parse.parse_qs(url.query)["token"][0]
failures = 0


def check(what, condition, seen=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what, seen)


def ask(method, path, body=None, **headers):
    link = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    link.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = link.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def api(method, path, body=None, **headers):
    if isinstance(body, dict):
        body, headers["Content_Type"] = json.dumps(body), "application/json"
    status, text, _ = ask(method, path, body, Authorization="Bearer " + token, **headers)
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


def quoted(text):
    return urllib.parse.quote(text, safe="")


def read():
    status, text, headers = ask("GET", "/?token=" + token)
    check("the page", status == 200 and b"studio.js" in text and b"<script>" not in text, status)
    policy = headers.get("Content-Security-Policy", "")
    check("a strict policy", "default-src 'none'" in policy and "unsafe" not in policy, policy)
    check("no page may frame it or read it", headers.get("X-Content-Type-Options") == "nosniff" and "frame-ancestors 'none'" in policy)
    for path in ("/api/runs", "/api/document", "/api/form", "/api/events", "/api/file?run=a&name=b", "/api/studies"):
        check(path + " without a token", ask("GET", path)[0] == 401)
        check(path + " with a wrong one", ask("GET", path, Authorization="Bearer " + "0" * 64)[0] == 401)
        check(path + " with a part of it", ask("GET", path + ("&" if "?" in path else "?") + "token=" + token[:-1])[0] == 401)
    for path in ("/api/start", "/api/stop", "/api/predict", "/api/explain"):
        check(path + " without a token", ask("POST", path, "{}", Content_Type="application/json")[0] == 401)
        check(path + " with the token in the address alone", ask("POST", path + "?token=" + token, "{}", Content_Type="application/json")[0] == 401)
    bearer = {"Authorization": "Bearer " + token}
    check("another Host", ask("GET", "/api/runs", Host="evil.example", **bearer)[0] == 421)
    check("another Host, the page", ask("GET", "/", Host="evil.example")[0] == 421)
    check("another Origin", ask("GET", "/api/runs", Origin="http://evil.example", **bearer)[0] == 403)
    check("another site", ask("GET", "/api/runs", Sec_Fetch_Site="cross-site", **bearer)[0] == 403)
    status, answer = api("GET", "/api/runs")
    check("two runs", status == 200 and answer["all"] == 2 and not answer["write"], answer)
    names = [run["path"] for run in answer["runs"]]
    check("a name with a script is data", any("<script>" in name for name in names), names)
    check("what they say", all(run["method"] == "grm" and run["state"] == "done" and run["validation"] > 0 for run in answer["runs"]), answer)
    check("search", api("GET", "/api/runs?search=sbm")[1]["matching"] == 1)
    run = next(name for name in names if name.startswith("sbm"))
    status, summary = api("GET", "/api/file?run=%s&name=summary.json" % quoted(run))
    check("a file", status == 200 and summary["seed"] == 1000, status)
    for path, name in ((run, "../../../../etc/passwd"), (run, "/etc/passwd"), (run, "state.safetensors"), ("../..", "config.toml"),
                       (run + "/../" + run.split("/")[-1], "config.toml"), ("/etc", "passwd"), ("", "summary.json"), (run + "/.", "summary.json")):
        check("file %s of %s" % (name, path), api("GET", "/api/file?run=%s&name=%s" % (quoted(path), quoted(name)))[0] == 404)
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/web/index.html", "/studio.js/../../x"):
        check("path " + path, ask("GET", path)[0] in (400, 404))
    check("starting is not allowed", api("POST", "/api/start", {"dataset": "sbm", "method": "erm"})[0] == 403)
    check("nor stopping", api("POST", "/api/stop", {"id": 1})[0] == 403)
    status, document = api("GET", "/api/document")
    check("a document to begin with", status == 200 and document["schema"] == "grm.report", document)
    status, document = api("GET", "/api/document?path=" + quoted(run))
    wanted = 1 if os.environ.get("GRM_HAS_DOCUMENT") else 0
    check("the document of a run", status == 200 and len(document["datasets"]) == wanted, str(document)[:300])
    check("no document of a path that is no run", api("GET", "/api/document?path=..%2f..")[0] == 404)
    import numpy
    draw, file = numpy.random.default_rng(1), io.BytesIO()
    numpy.savez(file, x=draw.normal(size=(20, 510)).astype("f4"), edge_index=draw.integers(0, 20, (2, 50)))
    kind = {"Content_Type": "application/octet-stream"}
    status, answer = api("POST", "/api/predict?run=" + quoted(run), file.getvalue(), **kind)
    check("prediction of an upload", status == 200 and answer["items"] == 20, answer)
    status, answer = api("POST", "/api/predict?rows=5&run=" + quoted(run), file.getvalue(), **kind)
    check("some rows of it", status == 200 and answer["items"] == 20 and len(answer["predictions"]) == 5, answer)
    check("rows are a number", api("POST", "/api/predict?rows=-1&run=" + quoted(run), file.getvalue(), **kind)[0] == 400)
    status, answer = api("POST", "/api/explain?item=3&run=" + quoted(run), file.getvalue(), **kind)
    check("explanation of an upload", status == 200 and answer["name"] == "3" and len(answer["edges"]) > 0, str(answer)[:300])
    status, answer = api("POST", "/api/predict?run=" + quoted(run), b"PK broken", **kind)
    check("a broken upload", status == 422 and "/tmp" not in str(answer), answer)
    check("a run that is none", api("POST", "/api/predict?run=..%2f..", file.getvalue(), **kind)[0] == 400)


def follow(wanted, seconds=60):
    """Events until one for which wanted(type, data) holds."""
    link = http.client.HTTPConnection(url.hostname, url.port, timeout=seconds)
    link.request("GET", "/api/events?token=" + token)
    answer = link.getresponse()
    kind, begin = "", time.monotonic()
    while time.monotonic() - begin < seconds:
        line = answer.readline().decode().strip()
        if line.startswith("event: "):
            kind = line[7:]
        if line.startswith("data: ") and wanted(kind, json.loads(line[6:])):
            link.close()
            return True
    link.close()
    return False


def state_of(job):
    return next(entry for entry in api("GET", "/api/runs")[1]["jobs"] if entry["id"] == job)


def wait_for(job, states):
    begin = time.monotonic()
    while time.monotonic() - begin < 60 and state_of(job)["state"] not in states:
        time.sleep(0.1)
    return state_of(job)


def write():
    form = api("GET", "/api/form?dataset=sbm&method=erm")[1]
    keys = {option["section"] + "." + option["key"] for option in form["options"]}
    check("the form has the declared options", form["write"] and {"train.epochs", "method.lr", "dataset.nodes"} <= keys, keys)
    for wrong in ({"dataset": "sbm", "method": "nope"}, {"dataset": "--help", "method": "erm"}, {"dataset": "sbm", "method": "erm", "set": {"method.lr": "x"}},
                  {"dataset": "sbm", "method": "erm", "set": {"method.lrr": "1"}}, {"dataset": 1}, {"dataset": "sbm", "method": "erm", "set": []}):
        status, answer = api("POST", "/api/start", wrong)
        check("start %s" % wrong, status in (400, 422), (status, answer))
    check("a form of another page cannot start", ask("POST", "/api/start", "dataset=sbm", Authorization="Bearer " + token,
                                                     Content_Type="application/x-www-form-urlencoded")[0] == 400)
    short = {"dataset": "sbm", "method": "erm", "set": {"train.epochs": "2", "dataset.nodes": "50"}}
    status, answer = api("POST", "/api/start", short)
    check("a short run", status == 200 and wait_for(answer["id"], ("done", "failed"))["state"] == "done", answer)
    long = {"dataset": "sbm", "method": "erm", "set": {"train.epochs": "1000000", "dataset.nodes": "200"}}
    job = api("POST", "/api/start", long)[1]["id"]
    check("its progress is told", follow(lambda kind, data: kind == "progress" and data["epoch"] > 5 and data["loss"]["total"] > 0))
    running = [run for run in api("GET", "/api/runs?state=running")[1]["runs"]]
    check("it is listed as running", len(running) == 1, running)
    check("stopping it", api("POST", "/api/stop", {"id": job})[0] == 200)
    check("it stops", wait_for(job, ("stopped", "failed", "done"))["state"] == "stopped", state_of(job))
    check("with a checkpoint", api("GET", "/api/file?run=%s&name=metrics.jsonl" % quoted(running[0]["path"]))[0] == 200)
    check("twice is once", api("POST", "/api/stop", {"id": job})[0] == 404)


def many():
    begin = time.monotonic()
    status, answer = api("GET", "/api/runs?limit=100")
    first = time.monotonic() - begin
    check("all are there", answer["all"] == 10000 and len(answer["runs"]) == 100, answer["all"])
    check("within a second", first < 1.0, first)
    begin = time.monotonic()
    answer = api("GET", "/api/runs?search=009999T")[1]
    check("one of them is found", answer["matching"] == 1 and time.monotonic() - begin < 1.0, answer)
    print("listed 10000 runs in %.3f s" % first)


{"read": read, "write": write, "many": many}[part]()
print("%d failures" % failures)
sys.exit(failures > 0)
