"""A headless Chromium for tests of the page: widths, schemes, console, checks that run inside of the page."""

import json
import pathlib
import shutil
import sys

# Contrast of WCAG 2 (1.4.3), overflow, names of controls, ids that occur twice. Returns a list of complaints.
CHECKS = r"""
const number = text => (text.match(/[\d.]+/g) || []).map(Number);
const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const paper = element => {
  for (let e = element; e; e = e.parentElement) {
    const c = number(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0.99) return c;
  }
  return number(getComputedStyle(document.body).backgroundColor);
};
const found = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) found.push(`overflow: ${root.scrollWidth} in ${root.clientWidth}`);
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(e.tagName) || !e.getClientRects().length) continue;
  const style = getComputedStyle(e);
  if (style.visibility === 'hidden' || e.closest('.hidden-text') || e.disabled) continue;
  const ink = light(number(e.namespaceURI.endsWith('svg') ? style.fill : style.color)), back = light(paper(e));
  const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
  if (ratio < 4.5) found.push(`faint ${ratio.toFixed(2)}: ${e.tagName} ${e.className.baseVal ?? e.className} '${e.textContent.slice(0, 40)}'`);
}
const nameOf = e => (e.getAttribute('aria-label') || (e.labels && e.labels.length && e.labels[0].textContent) ||
  document.getElementById(e.getAttribute('aria-labelledby') || '-')?.textContent || e.textContent || e.getAttribute('title') || '').trim();
for (const e of document.querySelectorAll('button, a[href], input, select, textarea, summary, [role=tab], [role=region], svg[role=img], [tabindex="0"]')) {
  if (!e.getClientRects().length) continue;
  if (!nameOf(e) && e.id !== 'main') found.push('no name: ' + e.outerHTML.slice(0, 80));
  if (e.tabIndex > 0) found.push('an order of focus of its own: ' + e.outerHTML.slice(0, 80));
}
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
for (const id of new Set(ids.filter((id, k) => ids.indexOf(id) !== k))) found.push('id twice: ' + id);
for (const e of document.querySelectorAll('[aria-controls], [aria-labelledby], label[for], output[for]')) {
  for (const id of (e.getAttribute('aria-controls') || e.getAttribute('aria-labelledby') || e.getAttribute('for')).split(' ')) {
    if (!document.getElementById(id)) found.push('names what is not there: ' + id);
  }
}
let level = 0;
for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
  const now = Number(h.tagName[1]);
  if (now > level + 1) found.push('a heading skips a level: ' + h.textContent);
  level = now;
}
for (const e of document.querySelectorAll('table')) {
  if (!e.querySelector('th[scope]')) found.push('a table without header cells');
}
if (document.getElementById('main').textContent.includes('[object ')) found.push('something is shown as an object');
if (document.documentElement.lang !== 'en') found.push('no language');
return found;
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def start():
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        skip("there is no python3-selenium")
    program = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not program or not driver:
        skip("there is no chromium with chromedriver")
    options = Options()
    options.binary_location = program
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--allow-file-access-from-files", "--hide-scrollbars"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Browser(webdriver.Chrome(service=Service(driver), options=options))


class Browser:
    def __init__(self, driver):
        self.driver = driver
        driver.set_script_timeout(30)

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, path):
        self.driver.get(pathlib.Path(path).resolve().as_uri() if "://" not in str(path) else path)
        self.ready()

    def ready(self, seconds=20):
        self.driver.execute_async_script(
            "const done = arguments[0], end = Date.now() + %d;"
            "const look = () => document.documentElement.dataset.ready === 'true' || Date.now() > end ? done()"
            " : setTimeout(look, 20); look();" % (seconds * 1000))
        return self.run("return document.documentElement.dataset.ready === 'true'")

    def settle(self, milliseconds=200):
        self.driver.execute_async_script(f"setTimeout(arguments[0], {milliseconds})")

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for since the last call."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls

    def complaints(self):
        return self.run(CHECKS)

    def shot(self, path, whole=True):
        height = self.run("return document.documentElement.scrollHeight") if whole else 900
        width = self.run("return innerWidth")
        import base64
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1}})
        pathlib.Path(path).write_bytes(base64.b64decode(data["data"]))

    def close(self):
        self.driver.quit()
