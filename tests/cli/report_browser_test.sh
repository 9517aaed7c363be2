#!/usr/bin/env bash
# Renders a report in headless Chromium, light and dark: no message on the console, nothing wider
# than the window at 1280 and 360 pixels, and text that stands out from its background.
source "$(dirname "$0")/lib.sh" "$@"
browser=
for name in chromium chromium-browser google-chrome; do
  browser=${browser:-$(command -v $name)}
done
if [ -z "$browser" ]; then
  echo "skipped: there is no chromium, chromium-browser or google-chrome to render a report in"
  exit 77
fi
unset GRM_DATA

# The browser has a least window width, so the page is shown in frames of the wanted widths. A
# frame is as wide as a window to the page in it.
cat > frames.html <<'HTML'
<!DOCTYPE html><html><body><script>
// Contrast of WCAG 2, 1.4.3.
const number = text => text.match(/[\d.]+/g).map(Number);
const light = c => c.slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
function background(element, view) {
  for (let e = element; e; e = e.parentElement) {
    const c = number(view.getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
function faint(page, view) {
  let least = 99, where = '';
  for (const e of page.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.tagName === 'title' || !e.getClientRects().length) continue;
    const style = view.getComputedStyle(e);
    const ink = light(number(e.namespaceURI.endsWith('svg') ? style.fill : style.color));
    const paper = light(background(e, view));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < least) { least = ratio; where = e.tagName + ' ' + e.textContent.slice(0, 30); }
  }
  return least.toFixed(2) + (least < 4.5 ? ' faint ' + where : ' readable');
}
const results = [];
for (const width of [1280, 360]) {
  const frame = document.createElement('iframe');
  frame.style = 'border:0;height:800px;width:' + width + 'px';
  frame.src = location.search.slice(1);
  frame.onload = () => {
    const page = frame.contentDocument, root = page.documentElement;
    const measure = state => results.push(
      (root.scrollWidth > root.clientWidth ? 'OVERFLOW ' : 'fits ') + width + ' ' + state + ' ' +
      root.scrollWidth);
    measure('closed');
    page.querySelectorAll('details').forEach(d => d.open = true);
    measure('open');
    results.push('contrast ' + faint(page, frame.contentWindow));
    const dark = frame.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches;
    results.push(dark ? 'dark' : 'light');
    document.body.setAttribute('data-results', results.join('; '));
  };
  document.body.appendChild(frame);
}
</script></body></html>
HTML

# render FILE SCHEME: what the frames found goes to dom, the browser's messages to log.
render() {
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$work/profile" --no-first-run --allow-file-access-from-files \
    --blink-settings=preferredColorScheme="$2" --enable-logging=stderr --window-size=1400,900 \
    --virtual-time-budget=20000 --dump-dom "file://$work/frames.html?$1" > dom.html 2> log.txt
  grep -oE 'data-results="[^"]*"' dom.html > dom
  grep -E ':CONSOLE' log.txt > console
}

"$grm" train --dataset sbm --set dataset.nodes=120 --epochs 4 --method erm,grm,grm:centred --seeds 2 \
  -q > /dev/null 2>&1
long=$(printf 'a_very_long_name_%.0s' {1..20})
check "a report to look at" "$grm" report runs --title "$long" -q
for scheme in "1 light" "0 dark"; do
  read -r number name <<< "$scheme"
  render report.html "$number"
  echo "$name: $(cat dom)"
  check "both widths were measured, in the $name scheme" bash -c \
    "[ \$(grep -o '$name' dom | wc -l) = 2 ]"
  check "nothing overflows in the $name scheme" bash -c "! grep -q OVERFLOW dom"
  check "text is readable in the $name scheme" bash -c "! grep -q faint dom"
  check "no message on the console in the $name scheme" bash -c "cat console; [ ! -s console ]"
done

# The checks do find what they look for.
sed 's|<main id="main">|<main id="main"><div style="width:3000px;color:#eee">wide</div>|' report.html > wide.html
render wide.html 1
check "a page that is too wide is noticed" grep -q "OVERFLOW 1280.*OVERFLOW 360\|OVERFLOW 360.*OVERFLOW 1280" dom
check "so is faint text" grep -q "faint DIV wide" dom
sed 's|<main id="main">|<main id="main"><img src="http://localhost/x.png" alt="">|' report.html > loads.html
render loads.html 1
check "so is a page that loads something" grep -q "Content Security Policy" console
finish
