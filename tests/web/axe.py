"""axe-core, where npm has installed it below the current folder or for all."""

import pathlib

PLACES = ("node_modules/axe-core/axe.min.js", "/usr/lib/node_modules/axe-core/axe.min.js",
          "/usr/local/lib/node_modules/axe-core/axe.min.js")


def serious_faults(page):
    """Serious and critical faults of the page as it stands; a list of texts."""
    for place in PLACES:
        if pathlib.Path(place).exists():
            page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": pathlib.Path(place).read_text()})
            return page.driver.execute_async_script(
                "axe.run().then(r => arguments[0](r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
                ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 90)).join(' | '))))")
    print("skipped: axe-core is not installed (npm install axe-core)")
    return []
