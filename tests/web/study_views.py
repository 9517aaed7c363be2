"""study_views.py PAGE MANY [SHOTS]: the views of a study in headless Chromium, and the speed of a report of 20 runs.

PAGE is a report of a tuned study whose second dataset has published values.
"""

import pathlib
import sys

import browser
from axe import serious_faults

failures = 0


def check(what, right, more=""):
    global failures
    if not right:
        failures += 1
        print(f"FAILED: {what} {more}")


def texts(page, selector):
    return page.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.trim())", selector)


def tip_over(page, selector):
    from selenium.webdriver.common.action_chains import ActionChains
    element = page.find(selector)[0]
    page.run("arguments[0].scrollIntoView({block: 'center'})", element)
    ActionChains(page.driver).move_to_element(element).perform()
    page.settle(60)
    return page.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")


def study(page):
    check("states are counted", any("done" in text for text in texts(page, "#study .states span")))
    check("a cell tells its seed", "seed" in tip_over(page, "#study .cells i.state-done[class]" if not page.find("#study table .cells i")
                                                     else "#study table .cells i"))
    check("trials are lines", len(page.find("#study path.trial")) >= 3)
    check("one is chosen", len(page.find("#study path.trial.chosen")) == 1)
    column = "#study caption"
    check("a table of trials", any(text.startswith("Trials of") for text in texts(page, column)), texts(page, column))
    values = lambda: page.run("const t = [...document.querySelectorAll('#study table')].find(t => t.caption?.textContent.startsWith('Trials of'));"
                              "return [...t.tBodies[0].rows].map(r => Number(r.cells[0].textContent))")
    page.run("const t = [...document.querySelectorAll('#study table')].find(t => t.caption?.textContent.startsWith('Trials of'));"
             "t.querySelector('thead button').click()")
    down = values()
    check("trials are sorted", down == sorted(down, reverse=True) and len(down) > 2, down)
    before = texts(page, "#study .card h3 + .toolbar option")
    if len(before) > 1:
        page.run("const s = document.querySelector('#study select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))")
        page.settle(100)
        check("another search is shown", any(before[1] in text for text in texts(page, column)), (before, texts(page, column)))


def published(page):
    page.run("const s = document.querySelector('#head select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change'))")
    page.ready()
    page.settle(200)
    rows = page.run("return [...document.querySelectorAll('#published tbody tr')].map(r => [...r.cells].map(c => c.textContent.trim()))")
    check("a published value", bool(rows), rows)
    for row in rows:
        ours, theirs = (float(row[k].split()[0].split("±")[0]) for k in (3, 4))
        shown = float(row[5].replace("−", "-").replace("+", ""))
        check("ours minus published", abs(ours - theirs - shown) <= 0.11, row)


def one_colour(page):
    """Every name has one colour and one mark on the whole page."""
    looks = page.run("const all = {}; for (const e of document.querySelectorAll('.row-name')) { const p = e.querySelector('path');"
                     "(all[e.textContent] = all[e.textContent] || []).push(p.getAttribute('class') + p.getAttribute('d')); }"
                     "return Object.entries(all).map(([name, list]) => [name, list.length, new Set(list).size])")
    check("names with a mark", len(looks) > 1)
    check("a name looks the same everywhere", all(kinds == 1 for _, _, kinds in looks), looks)


# Pictures of one width in light and dark: what is seen in one is seen in the other, nothing is blank.
COMPARE = r"""
const [a, b, done] = arguments;
const inked = async data => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width; canvas.height = image.height;
  const draw = canvas.getContext('2d', {willReadFrequently: true});
  draw.drawImage(image, 0, 0);
  const pixels = draw.getImageData(0, 0, image.width, image.height).data;
  const wide = Math.floor(image.width / 16), high = Math.floor(image.height / 16), cells = new Uint8Array(wide * high);
  for (let y = 0; y < high; y += 1) for (let x = 0; x < wide; x += 1) {
    const at = (X, Y) => 4 * (Y * image.width + X), first = at(16 * x, 16 * y);
    for (let k = 0; k < 256 && !cells[y * wide + x]; k += 1) {
      const p = at(16 * x + k % 16, 16 * y + (k >> 4));
      if (Math.abs(pixels[p] - pixels[first]) + Math.abs(pixels[p + 1] - pixels[first + 1]) + Math.abs(pixels[p + 2] - pixels[first + 2]) > 40) cells[y * wide + x] = 1;
    }
  }
  return {wide, high, cells};
};
(async () => {
  const [one, two] = [await inked(a), await inked(b)];
  let both = 0, any = 0, run = 0, blank = 0, right = 0, all = 0;
  for (let k = 0; k < Math.min(one.cells.length, two.cells.length); k += 1) { both += one.cells[k] & two.cells[k]; any += one.cells[k] | two.cells[k]; }
  for (let y = 0; y < one.high; y += 1) {
    const row = one.cells.subarray(y * one.wide, (y + 1) * one.wide), used = row.some(Boolean);
    run = used ? 0 : run + 16;
    blank = Math.max(blank, run);
    if (used) { all += 1; if (row.subarray(Math.floor(one.wide / 2)).some(Boolean)) right += 1; }
  }
  done({same: both / any, equal: one.high === two.high, blank, right: right / all, share: any / one.cells.length});
})();
"""


def pictures(page, path, shots):
    import base64
    for width in (390, 768, 1280, 1920):
        data = []
        for scheme in ("light", "dark"):
            page.size(width)
            page.scheme(scheme)
            page.open(path)
            page.settle(150)
            name = pathlib.Path(shots) / f"study-{width}-{scheme}.png"
            page.shot(name)
            data.append(base64.b64encode(name.read_bytes()).decode())
            complaints = page.complaints()
            check(f"nothing to complain of at {width} {scheme}", not complaints, complaints[:3])
        page.driver.get("about:blank")
        seen = page.driver.execute_async_script(COMPARE, *data)
        print(f"{width}: light and dark share {100 * seen['same']:.0f} % of what is drawn, longest blank {seen['blank']} px, "
              f"right half used in {100 * seen['right']:.0f} % of the lines")
        check(f"light and dark show the same at {width}", seen["equal"] and seen["same"] > 0.85, seen)
        check(f"no blank region at {width}", seen["blank"] < 300 and seen["share"] > 0.05, seen)
        check(f"the right side is used at {width}", seen["right"] > 0.5, seen)


def speed(page, many):
    page.size(1280)
    page.scheme("light")
    took = []
    for _ in range(3):  # other programs may have the processor
        page.open(many)
        took.append(page.run("return performance.now()"))
    print(f"20 runs are drawn after {min(took):.0f} ms")
    check("20 runs are interactive within a second", min(took) < 1000, took)
    frames = page.driver.execute_async_script(
        "const done = arguments[0], box = document.querySelector('#explanations input[type=range]');"
        "box.scrollIntoView({block: 'center'}); let k = 0, from = 0;"
        "const step = now => { from = from || now; box.value = (k % 50) / 50; box.dispatchEvent(new Event('input', {bubbles: true}));"
        "k += 1; now - from < 1500 ? requestAnimationFrame(step) : done((k - 1) / (now - from) * 1000); }; requestAnimationFrame(step)")
    print(f"{frames:.0f} frames a second while the slider moves")
    check("the slider is followed", frames > 20, frames)  # 60 on a machine of its own


def main():
    path, many, shots = sys.argv[1:4]
    page = browser.start()
    page.size(1280)
    page.scheme("light")
    page.open(path)
    study(page)
    one_colour(page)
    published(page)
    one_colour(page)
    faults = serious_faults(page)
    check("axe-core finds no serious fault", not faults, faults)
    check("no message on the console", not (said := page.console()), said[:3])
    speed(page, many)
    pictures(page, path, shots)
    page.close()
    print(f"{failures} checks failed" if failures else "the views of a study are as they should be")
    sys.exit(failures > 0)


main()
