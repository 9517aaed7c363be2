#!/usr/bin/env python3
"""serve.py ADDRESS PID SECONDS RATE: asks a running `grm serve` RATE times a second and prints one JSON object.

Requests leave on a clock, whether earlier ones have been answered or not, over some kept connections.
Fails unless all are answered with 200 and the memory of the process PID stays where it was after a fifth of the time."""
import http.client
import json
import queue
import random
import sys
import threading
import time

address, pid, seconds, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
host = address.split("//")[1]
CONNECTIONS = 16


def get(path):
    link = http.client.HTTPConnection(host, timeout=60)
    link.request("GET", path)
    return link.getresponse().read()


def memory_mib():
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


width = json.loads(get("/v1/models"))["models"][0]["features"]
draw = random.Random(1)


def body():
    nodes = draw.randint(5, 30)
    x = [[round(draw.gauss(0, 1), 3) if draw.random() < 0.1 else 0 for _ in range(width)] for _ in range(nodes)]
    pairs = [[draw.randrange(nodes) for _ in range(3 * nodes)] for _ in range(2)]
    return json.dumps({"arrays": {"x": x, "edge_index": pairs}})


bodies = [body() for _ in range(50)]
waiting, times, wrong, lock = queue.Queue(), [], [], threading.Lock()


def ask():
    link = http.client.HTTPConnection(host, timeout=60)
    while True:
        job = waiting.get()
        if job is None:
            return
        due, text = job
        try:
            link.request("POST", "/v1/predict", text, {"Content-Type": "application/json"})
            answer = link.getresponse()
            content = answer.read()
            fault = "" if answer.status == 200 and b'"predictions"' in content else str(answer.status)
        except OSError as error:
            fault = repr(error)
            link.close()
        with lock:
            times.append(time.monotonic() - due)
            if fault:
                wrong.append(fault)


threads = [threading.Thread(target=ask) for _ in range(CONNECTIONS)]
for thread in threads:
    thread.start()
begin, memory = time.monotonic(), []
count = int(seconds * rate)
for k in range(count):
    due = begin + k / rate
    time.sleep(max(0.0, due - time.monotonic()))
    waiting.put((due, bodies[k % len(bodies)]))
    if k % max(1, count // 50) == 0:
        memory.append(memory_mib())
for thread in threads:
    waiting.put(None)
for thread in threads:
    thread.join()
took = time.monotonic() - begin
memory.append(memory_mib())
times.sort()
settled = max(memory[:max(2, len(memory) // 5)])
print(json.dumps({
    "asked": count, "answered": len(times) - len(wrong), "wrong": sorted(set(wrong)), "seconds": round(took, 2),
    "rate": round(count / took, 1), "median_ms": round(1000 * times[len(times) // 2], 2),
    "p99_ms": round(1000 * times[int(len(times) * 0.99)], 2), "longest_ms": round(1000 * times[-1], 2),
    "memory_mib": {"first": round(memory[0], 1), "settled": round(settled, 1), "last": round(memory[-1], 1)},
}))
if wrong or len(times) != count:
    sys.exit("not all requests were answered")
if memory[-1] > 1.1 * settled + 16:
    sys.exit("memory grows")
