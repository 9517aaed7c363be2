"""Goes through every view of a report in headless Chromium.

report_views.py PAGE HOSTILE [SHOTS]: a report, one whose names are scripts, and a folder for screenshots.
"""

import json
import pathlib
import re
import sys

import browser
from axe import serious_faults
from document import document_of

WIDTHS = (390, 768, 1280, 1920)
failures = 0


def check(what, right, more=""):
    global failures
    if not right:
        failures += 1
        print(f"FAILED: {what} {more}")


def texts(page, selector):
    return page.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())", selector)


def click(page, selector, text=None):
    found = [e for e in page.find(selector) if text is None or e.text.strip().startswith(text)]
    check(f"there is {selector} {text or ''}", bool(found))
    if found:
        page.run("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", found[0])
        page.settle(60)
    return found


def set_value(page, selector, value, event="input"):
    page.run("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
             "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))", selector, value, event)
    page.settle(60)


def looks(page, path, shots):
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page.size(width)
            page.scheme(scheme)
            page.open(path)
            where = f"{width} {scheme}"
            check(f"ready at {where}", page.ready())
            page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            page.settle(80)
            complaints = page.complaints()
            check(f"nothing to complain of at {where}", not complaints, complaints[:5])
            check(f"no message on the console at {where}", not (said := page.console()), said[:3])
            if shots:
                page.open(path)
                page.shot(pathlib.Path(shots) / f"report-{width}-{scheme}.png")


def shown_scores(page, data):
    """The table of methods shows the numbers of the document, rounded to one decimal."""
    rows = page.run("return [...document.querySelectorAll('#methods table tbody tr')].map(r =>"
                    "[...r.children].map(c => c.textContent.trim()))")
    dataset = data["datasets"][0]
    for row in dataset["rows"]:
        line = next((cells for cells in rows if cells[0].startswith(row["name"])), None)
        check(f"row {row['name']}", line is not None)
        if line:
            for cell, score in zip([line[1], line[2], *line[4:]], [row["avg"], row["min"], *row["scores"]]):
                numbers = [float(word) for word in re.findall(r"\d+\.\d", cell)]
                check(f"scores of {row['name']}", len(numbers) == 2 and abs(numbers[0] - score["mean"]) <= 0.05 + 1e-9 and
                      abs(numbers[1] - score["std"]) <= 0.05 + 1e-9, (cell, score))
    chosen = next(row for row in dataset["rows"] if row["name"] == dataset["chosen"])
    check("the first figure is the chosen row's", texts(page, ".answer .value")[0].startswith(f"{chosen['avg']['mean']:.1f}"))
    check("the answer names it", texts(page, ".answer .name") == [chosen["name"]])
    check("a doubt is told", texts(page, ".doubt p")[0] == dataset["doubts"][0])


def tables(page):
    names = lambda: texts(page, "#methods table tbody tr:not(.total) th .row-name")
    before = names()
    click(page, "#methods thead button", "method")
    check("sorted by name", names() == sorted(before), names())
    check("the header says so", page.run("return document.querySelector('#methods thead th').getAttribute('aria-sort')") == "ascending")
    click(page, "#methods thead button", "method")
    check("sorted the other way round", names() == sorted(before, reverse=True))
    first = before[0]
    set_value(page, "#shift input[type=search]", "T1")
    shown = "#shift .grid12 table tbody th"
    check("filtered", texts(page, shown) == ["T1"], texts(page, shown))
    set_value(page, "#shift input[type=search]", "no such thing")
    check("filtered to nothing", texts(page, shown) == [])
    return first


def hover(page, selector):
    from selenium.webdriver.common.action_chains import ActionChains
    element = page.find(selector)[0]
    page.run("arguments[0].scrollIntoView({block: 'center'})", element)
    ActionChains(page.driver).move_to_element(element).perform()
    page.settle(60)
    return page.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")


def views(page, data):
    check("hover over a cell tells its score", "over it" in hover(page, "#domains .heat button"))
    click(page, "#domains .heat button")
    check("a cell opens its runs", "Runs" in " ".join(texts(page, "#domains caption")))
    check("and stays focused or pressed", texts(page, "#domains button[aria-pressed=true]") != [])
    check("hover over an interval", "95 %" in hover(page, "#methods svg.chart g rect"))
    click(page, "#methods button", "Show the domains")
    check("a picture for each domain", len(page.find("#methods .multiples figure")) == len(data["datasets"][0]["domains"]))
    check("hover over a bar", "standard deviations" in hover(page, "#shift rect"))
    check("hover over curves", "epoch" in hover(page, "#inside svg.chart"))
    page.run("document.querySelector('#inside svg.chart').focus()")
    page.run("document.querySelector('#inside svg.chart').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))")
    check("arrow keys walk along a curve", "epoch" in texts(page, "#tip")[0])
    for tab, wanted in (("Confusion", "table.confusion td"), ("ROC", "#inside svg.chart path.stroke"),
                        ("Reliability", "#inside svg.chart circle"), ("Embedding", "#inside svg.chart circle")):
        click(page, "#inside [role=tab]", tab)
        check(f"{tab} is drawn", len(page.find(wanted)) > 1)
        complaints = page.complaints()
        check(f"nothing to complain of in {tab}", not complaints, complaints[:4])
    for colour in ("domain", "class", "error"):
        click(page, "#inside .segmented button", colour)
        check(f"coloured by {colour}", texts(page, "#inside .segmented button[aria-pressed=true]")[-1] == colour)
    before = len(page.find("#explanations .graph line"))
    check("a graph is drawn", before > 0)
    set_value(page, "#explanations input[type=range]", "1")
    after = len(page.find("#explanations .graph line"))
    check("the slider hides edges", after < before, (before, after))
    set_value(page, "#explanations input[type=range]", "0")
    check("and shows them again", len(page.find("#explanations .graph line")) == before)
    click(page, "#explanations .segmented button", "observed")
    check("the observed graph has no more edges", 0 < len(page.find("#explanations .graph line")) <= before)
    item = data["datasets"][0]["explanations"]["items"][1]
    set_value(page, "#explanations input[type=search]", item["name"])
    click(page, "#explanations .items button")
    check("the item that was searched for", item["name"] in texts(page, "#explanations h3")[0])
    check("hover over an edge", "observed" in hover(page, "#explanations .graph .node") or texts(page, "#tip")[0] != "")
    before = page.run("return getComputedStyle(document.body).backgroundColor")
    click(page, "#head .segmented button", "dark")
    check("the switch makes it dark", page.run("return getComputedStyle(document.body).backgroundColor") != before)
    click(page, "#head .segmented button", "auto")
    page.ready()


def keyboard(page):
    """Tab reaches controls in the order in which they stand, and the focus is seen."""
    from selenium.webdriver.common.keys import Keys
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    places = []
    for _ in range(25):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        places.append(page.run("const e = document.activeElement; const all = [...document.querySelectorAll('*')];"
                               "const s = getComputedStyle(e); return [all.indexOf(e), s.outlineStyle !== 'none' || s.boxShadow !== 'none']"))
    order = [place for place, _ in places]
    check("the focus goes forward", order == sorted(order) and len(set(order)) > 15, order)
    check("the focus is seen", all(seen for _, seen in places))


def main():
    path, hostile = sys.argv[1:3]
    shots = sys.argv[3] if len(sys.argv) > 3 else ""
    data = json.loads(document_of(pathlib.Path(path).read_text(encoding="utf-8")))
    page = browser.start()
    page.size(1280)
    page.scheme("light")
    page.requests()
    took = []
    for _ in range(3):  # other programs may have the processor
        page.open(path)
        took.append(page.run("return performance.now()"))
    print(f"drawn after {min(took):.0f} ms")
    check("interactive within a second", min(took) < 1000, took)
    check("one request: the page", len(asked := page.requests()) == 3, asked)
    shown_scores(page, data)
    tables(page)
    views(page, data)
    check("no message on the console", not (said := page.console()), said[:3])
    page.open(path)
    keyboard(page)
    faults = serious_faults(page)
    check("axe-core finds no serious fault", not faults, faults)
    page.open(hostile)
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    for k in range(5):
        page.run("document.querySelectorAll('#inside [role=tab]')[arguments[0]]?.click()", k)
        page.settle(60)
    check("names that are scripts do nothing", page.run("return window.hit === undefined && !document.querySelector('main img, main script, main b')"))
    check("no message on the console of that page", not (said := page.console()), said[:3])
    check("they are shown as they are", "<script>" in page.run("return document.body.innerText"))
    looks(page, path, shots)
    # The checks do find what they look for.
    page.run("const d = document.createElement('div'); d.textContent = 'wide'; d.style.width = '3000px'; d.style.color = '#eee';"
             "document.body.style.background = '#fff'; document.getElementById('main').append(d);"
             "document.getElementById('main').append(document.createElement('button'))")
    found = " ".join(page.complaints())
    check("faults are noticed", "overflow" in found and "faint" in found and "no name" in found, found[:300])
    page.run("const i = document.createElement('img'); i.src = 'http://localhost/x.png'; document.body.append(i)")
    page.settle(200)
    check("the policy forbids to load anything", any("Content Security Policy" in line for line in page.console()))
    page.close()
    print(f"{failures} checks failed" if failures else "all views are as they should be")
    sys.exit(failures > 0)


main()
