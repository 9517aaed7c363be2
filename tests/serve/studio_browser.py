"""studio_browser.py ADDRESS: the studio in headless Chromium: list, start, live progress, stop, upload, explanation; no error in
the console, and no script out of a name."""
import io
import os
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.chrome.service import Service
    import numpy
except ImportError as error:
    print("skipped: the studio in a browser: %s" % error)
    sys.exit(0)
if not os.path.exists("/usr/bin/chromedriver") or not os.path.exists("/usr/bin/chromium"):
    print("skipped: the studio in a browser: there is no chromium or chromium-driver")
    sys.exit(0)

options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,1000",
             "--user-data-dir=" + tempfile.mkdtemp()):
    options.add_argument(word)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
failures = 0


def check(what, condition, seen=""):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what, seen)


def wait(what, look, seconds=60):
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        try:
            found = look()
            if found:
                return found
        except Exception:  # drawn again in this moment
            pass
        time.sleep(0.1)
    check(what, False)
    return None


def all_of(css):
    return browser.find_elements(By.CSS_SELECTOR, css)


def act(what, do):
    """Does it again where the page was drawn anew between finding and doing."""
    wait(what, lambda: do() is None)


def search_for(text):
    box = browser.find_element(By.CSS_SELECTOR, "#runs input[type=search]")
    box.clear()
    box.send_keys(text)


def by_id(name):
    return browser.find_element(By.ID, name)


def click(node):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
    browser.execute_script("arguments[0].click()", node)


try:
    browser.get(sys.argv[1])
    wait("the list of runs", lambda: len(all_of("#runs tr[data-run]")) >= 2)
    check("the token has left the address", "token" not in browser.current_url, browser.current_url)
    check("a name with a script is text", any("<script>" in row.text for row in all_of("#runs th[scope=row]")))
    act("search for grm", lambda: search_for("sbm/grm"))
    wait("search", lambda: len(all_of("#runs tr[data-run]")) == 1)

    # Start, follow, stop.
    def field(key):
        return browser.find_element(By.CSS_SELECTOR, "[data-option='%s']" % key)
    wait("the form", lambda: field("train.epochs"))
    browser.execute_script("document.querySelectorAll('#start details').forEach(part => (part.open = true))")
    act("epochs", lambda: field("train.epochs").send_keys("1000000"))
    act("nodes", lambda: field("dataset.nodes").send_keys("200"))
    act("start", lambda: click(by_id("start-run")))
    wait("the run goes on", lambda: all_of("#start li[data-state=running]"))
    act("search for erm", lambda: search_for("sbm/erm"))
    line = wait("live progress", lambda: [each.text for each in all_of("#runs .live") if "epoch" in each.text])
    wait("that moves", lambda: [each.text for each in all_of("#runs .live") if "epoch" in each.text and each.text not in line])
    act("stop", lambda: click(all_of("#start li[data-state=running] button")[0]))
    wait("it stops", lambda: all_of("#start li[data-state=stopped]"))

    # Upload.
    act("search for grm again", lambda: search_for("sbm/grm"))
    wait("the finished run", lambda: len(all_of("#runs tr[data-state=done]")) == 1)
    wait("ask", lambda: click(all_of("#runs button[aria-label^='Ask ']")[0]) or all_of("#ask-files"))
    draw = numpy.random.default_rng(1)
    path = os.path.join(tempfile.mkdtemp(), "new.npz")
    numpy.savez(path, x=draw.normal(size=(20, 510)).astype("f4"), edge_index=draw.integers(0, 20, (2, 50)))
    act("choose a file", lambda: by_id("ask-files").send_keys(path))
    act("predict", lambda: click(by_id("ask-predict")))
    wait("predictions", lambda: len(all_of("#ask tbody tr")) == 20)
    act("name an item", lambda: by_id("ask-item").send_keys("3"))
    act("explain", lambda: click(by_id("ask-explain")))
    wait("an explanation", lambda: "node 3" in browser.find_element(By.CSS_SELECTOR, "#ask .explained").text)
    check("with a picture", len(all_of("#ask svg circle")) > 1)
    wait("show a run", lambda: all_of("#runs button[aria-label^='Show ']"))
    act("show it", lambda: click(all_of("#runs button[aria-label^='Show ']")[0]))
    wait("the page of the run", lambda: "path=" in browser.current_url and len(all_of("main > section")) >= (5 if os.environ.get("GRM_HAS_DOCUMENT") else 3), 90)
    # axe-core sees the panels: list, form, upload with an answer.
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "web"))
    sys.dont_write_bytecode = True
    from axe import serious_faults
    browser.execute_script("document.querySelectorAll('main details').forEach(part => (part.open = true))")
    faults = serious_faults(type("Page", (), {"driver": browser}))
    check("axe-core finds no serious fault in the panels", not faults, faults)
    check("no dialog came up", not browser.execute_script("return window.alerted"))
    for width in (390, 1280):
        browser.set_window_size(width, 900)
        time.sleep(0.4)
        wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        check("no overflow at %d" % width, wide <= 1, wide)
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]
    check("no error in the console", not errors, errors[:3])
finally:
    browser.quit()
print("%d failures" % failures)
sys.exit(failures > 0)
