"""service_attack.py ADDRESS PID: hostile and careless clients of `grm serve`. Every one is refused with a status or loses its
connection; the service goes on, and says so in /metrics. Expected statuses are those of RFC 9110 and RFC 6585."""
import http.client
import json
import random
import socket
import sys
import time

address, pid = sys.argv[1], int(sys.argv[2])
host, port = address.split("//")[1].split(":")
port = int(port)
failures = 0


def check(what, condition, seen=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what, seen)


def ask(method, path, body=None, headers=None):
    link = http.client.HTTPConnection(host, port, timeout=30)
    link.request(method, path, body, headers or {})
    answer = link.getresponse()
    return answer.status, answer.read()


def raw(data, wait=5.0):
    """The status of what comes back for these bytes; 0: the connection was closed without a word."""
    link = socket.create_connection((host, port), timeout=wait)
    try:
        link.sendall(data)
        text = link.recv(65536)
        return int(text.split()[1]) if text.startswith(b"HTTP/") else 0
    except OSError:
        return 0
    finally:
        link.close()


def post(body, kind="application/json", path="/v1/predict", **headers):
    return ask("POST", path, body, {"Content-Type": kind, **headers})


def memory_mib():
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


width = json.loads(ask("GET", "/v1/models")[1])["models"][0]["features"]
good = {"arrays": {"x": [[0.5] * width, [0.25] * width, [1.0] * width], "edge_index": [[0, 1], [1, 2]]}}
status, first = post(json.dumps(good))
check("a plain request", status == 200, first)

# --- who asks, and for what ------------------------------------------------------------------------
for name in ("evil.example", "evil.example:%d" % port, "127.0.0.1", "127.0.0.1:1", ""):
    check("Host %r" % name, ask("GET", "/v1/models", None, {"Host": name})[0] in (400, 421))
check("localhost is a name of ours", ask("GET", "/v1/models", None, {"Host": "localhost:%d" % port})[0] == 200)
for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
    check("Origin " + origin, post(json.dumps(good), Origin=origin)[0] == 403)
check("a page of another site", post(json.dumps(good), **{"Sec-Fetch-Site": "cross-site"})[0] == 403)
check("a form of another page", post("model=a", "application/x-www-form-urlencoded")[0] == 400)
check("plain text, which pages may send anywhere", post(json.dumps(good), "text/plain")[0] == 400)
check("several parts", post("--a--", "multipart/form-data; boundary=a")[0] in (400, 415))
check("a question before the request", ask("OPTIONS", "/v1/predict")[0] == 405)
for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/../../etc/passwd", "//etc/passwd", "/v1/models/..%2f..",
             "/v1/models%00.json"):
    status, text = ask("GET", path)
    check("path " + path, status in (400, 404) and b"root:" not in text, status)
check("an unknown model", post(json.dumps({**good, "model": "../../etc/passwd"}))[0] == 400)
check("a graph whose name is a path",
      post(json.dumps({"graphs": {"../../a": good["arrays"]}}))[0] == 422)
check("a table whose name is a path", post(json.dumps({"files": {"../../a.csv": "id\n1\n"}}))[0] == 422)
script = post(json.dumps({**good, "model": "<script>alert(1)</script>"}))
check("a name with a script is quoted in JSON", script[0] == 400 and b'"kind":"config"' in script[1], script)

# --- broken and huge requests ----------------------------------------------------------------------
for data, wanted in (
        (b"GET / HTTP/1.1\r\n\r\n", {400}), (b"\r\n\r\n", {400}), (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", {400, 505}),
        (b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", {505}), (b"G\0T / HTTP/1.1\r\nHost: a\r\n\r\n", {400}),
        (b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345", {400}),
        (b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {411}),
        (b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", {415}),
        (b"POST /v1/predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n", {413}),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", {414, 431}),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 9000 + b"\r\n", {431}),
        (b"A" * 200000, {431, 0})):
    status = raw(data)
    check("bytes %r" % data[:60], status in wanted, status)

for body in ("", "{", "[]", "null", "{}", '{"arrays": 1}', '{"arrays": {}}', '{"arrays": {"x": "a"}}', '{"arrays": {"x": [[1], [1, 2]]}}',
             '{"arrays": {"x": [[1e999]], "edge_index": [[], []]}}', "[" * 100000, '{"a":' * 100000, "{\"arrays\": {\"x\": [" + "[1]," * 10,
             '{"tables": {"nodes": []}}', '{"files": {}}', '{"graphs": {}}', '{"arrays": {"x": [[1]], "edge_index": [[99], [0]]}}',
             '{"arrays": {"x": [[1]], "edge_index": [[18446744073709551615], [0]]}}', "\xff\xfe", '{"arrays": {"/a": [1]}}'):
    status, text = post(body.encode("latin-1"))
    check("body %r" % body[:50], status in (400, 422) and b'"message"' in text, (status, text[:200]))

# Mutants of a good .npz file.
import io
import numpy
memory = memory_mib()
file = io.BytesIO()
numpy.savez(file, x=numpy.ones((4, width), "f4"), edge_index=numpy.array([[0, 1, 2], [1, 2, 3]]))
whole = file.getvalue()
check("the file itself", post(whole, "application/octet-stream")[0] == 200)
draw = random.Random(7)
seen = {}
for _ in range(300):
    mutant = bytearray(whole)
    for _ in range(draw.choice((1, 1, 2, 8))):
        mutant[draw.randrange(len(mutant))] = draw.randrange(256)
    if draw.random() < 0.3:
        mutant = mutant[:draw.randrange(len(mutant))]
    status = post(bytes(mutant), "application/octet-stream")[0]
    seen[status] = seen.get(status, 0) + 1
check("mutants of .npz", set(seen) <= {200, 422}, seen)
text = json.dumps(good).encode()
seen = {}
for _ in range(300):
    mutant = bytearray(text)
    for _ in range(draw.choice((1, 2, 8))):
        mutant[draw.randrange(len(mutant))] = draw.randrange(256)
    status = post(bytes(mutant))[0]
    seen[status] = seen.get(status, 0) + 1
check("mutants of JSON", set(seen) <= {200, 400, 422}, seen)
check("memory after them", memory_mib() < memory + 300, (memory, memory_mib()))

# --- slow clients and many of them -----------------------------------------------------------------
slow = []
for k in range(1000):
    link = socket.create_connection((host, port), timeout=10)
    if k % 2:
        link.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000\r\n" % port)
    slow.append(link)
begin = time.monotonic()
status, _ = ask("GET", "/healthz")
check("1,000 idle and slow connections do not stop others", status == 200 and time.monotonic() - begin < 5)
check("nor predictions", post(json.dumps(good))[0] == 200)
begin = time.monotonic()
for link in slow[1:60:2]:  # a byte now and then
    try:
        link.sendall(b"X")
    except OSError:
        pass
slow[1].settimeout(30)
answer = b""
while time.monotonic() - begin < 30:
    try:
        slow[1].sendall(b"-")
    except OSError:
        break
    slow[1].settimeout(0.5)
    try:
        answer = slow[1].recv(100)
        break
    except socket.timeout:
        continue
    except OSError:
        break
check("a head that does not end is given up in time", time.monotonic() - begin < 20, time.monotonic() - begin)
check("and told so", answer == b"" or b" 408 " in answer, answer)
more = []
for k in range(200):
    try:
        more.append(socket.create_connection((host, port), timeout=10))
    except OSError:
        break
for link in slow + more:
    link.close()
time.sleep(0.5)

status, again = post(json.dumps(good))
pick = lambda answer: json.loads(answer)["predictions"]
check("the answer is what it was at first", status == 200 and pick(again) == pick(first))
text = ask("GET", "/metrics")[1].decode()
for name in ('grm_http_responses_total{status="403"}', 'grm_http_responses_total{status="408"}', "grm_request_seconds_count"):
    check("metrics have " + name, name in text)
print("%d failures" % failures)
sys.exit(failures > 0)
