#include "report/html_style.h"

namespace grm::report {

// Text has a contrast of at least 4.5 with its background and lines of at least 3 in both schemes
// (WCAG 2, AA). Dashes and symbols tell series apart where colours do not.
const char* const kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1e23; --soft: #59606b; --rule: #d4d8de; --panel: #f4f6f8;
  --link: #0b5cad; --good: #00704f; --bad: #b03a00; --mark: #fff3c4;
  --c0: #0072b2; --c1: #c44e00; --c2: #00805d; --c3: #b0568a; --c4: #80700a;
  --c5: #6a4c9c; --c6: #1c84a8; --c7: #70757d; --c8: #1b1e23;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15181c; --ink: #e6e8eb; --soft: #a4abb5; --rule: #3a4049; --panel: #1f242a;
    --link: #7cb8ff; --good: #4fd1a5; --bad: #ff9a66; --mark: #4a4010;
    --c0: #5ab4f0; --c1: #ff8a3d; --c2: #3cc9a0; --c3: #e58fc0; --c4: #d6c53b;
    --c5: #b39de8; --c6: #7fd6e8; --c7: #a0a6ae; --c8: #e6e8eb;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 72rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
  "DejaVu Sans", sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 0 0 .75rem; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--link); }
section { margin-top: 2rem; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; }
ul.plain { margin: .5rem 0; padding-left: 1.2rem; max-width: 46rem; }
ul.plain li { margin: .25rem 0; }
.scroll { overflow-x: auto; margin: .75rem 0; max-width: 100%; }
.scroll:focus-visible, pre:focus-visible, summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px;
}
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; padding: 0 0 .4rem; }
th, td { padding: .32rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; }
thead th { background: var(--panel); }
thead th.group { text-align: center; border-left: 1px solid var(--rule); }
th.text, td.text { text-align: left; }
tbody th { font-weight: 500; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--page); }
thead th:first-child { background: var(--panel); }
td.long { white-space: normal; min-width: 14rem; text-align: left; overflow-wrap: anywhere; }
tr.total th, tr.total td { background: var(--panel); }
tr.first td, tr.first th { border-top: 2px solid var(--soft); }
.better { color: var(--good); } .worse { color: var(--bad); }
.notes, figcaption .sub { color: var(--soft); font-size: .88rem; margin: .2rem 0; max-width: 46rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.25rem; }
figure { margin: .75rem 0; min-width: 0; max-width: 40rem; }
figcaption { font-weight: 600; font-size: .95rem; margin-bottom: .35rem; }
figcaption .sub { font-weight: 400; display: block; }
svg { display: block; width: 100%; height: auto; max-width: 100%; }
svg text { fill: var(--soft); font-size: 12px; font-family: inherit; }
svg .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
svg .grid { stroke: var(--rule); stroke-width: 1; fill: none; }
svg .line { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round; }
svg .band { fill: var(--c); opacity: .16; stroke: none; }
svg .dot { fill: var(--c); stroke: none; }
svg .bar { stroke: var(--c); stroke-width: 1.5; fill: none; }
.s0 { --c: var(--c0); } .s1 { --c: var(--c1); stroke-dasharray: 7 3; }
.s2 { --c: var(--c2); stroke-dasharray: 2 2.5; } .s3 { --c: var(--c3); stroke-dasharray: 9 3 2 3; }
.s4 { --c: var(--c4); stroke-dasharray: 4 2; } .s5 { --c: var(--c5); stroke-dasharray: 12 4; }
.s6 { --c: var(--c6); stroke-dasharray: 1.5 4; } .s7 { --c: var(--c7); stroke-dasharray: 5 2 1 2 1 2; }
.s8 { --c: var(--c8); } .band, .dot, .bar { stroke-dasharray: none; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: .35rem 0; font-size: .88rem; }
.legend li { display: flex; align-items: center; gap: .4rem; }
.legend svg { width: 30px; flex: none; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; }
.sides p { margin: 0; font-size: .85rem; color: var(--soft); text-align: center; }
.sides svg { background: var(--panel); border-radius: 6px; }
svg .node { fill: var(--page); stroke: var(--soft); stroke-width: 1.2; }
svg .target { fill: var(--c1); stroke: var(--ink); stroke-width: 1.5; }
svg .name { font-size: 8.5px; fill: var(--ink); text-anchor: middle; }
svg .start { text-anchor: start; } svg .end { text-anchor: end; }
svg .shade { fill: var(--c3); stroke: none; } svg .shade, svg .name { pointer-events: none; }
svg .bent { fill: none; }
svg .plain { stroke: var(--soft); } svg .truth { stroke: var(--ink); stroke-width: 3.5; stroke-opacity: 1; } svg .kept { stroke: var(--c0); }
svg .weakened { stroke: var(--c1); stroke-dasharray: 4 3; }
svg .added { stroke: var(--c2); stroke-dasharray: 1.5 2; }
svg .doubt { stroke-opacity: .22; stroke-dasharray: none; pointer-events: none; }
details { border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .8rem; margin: .6rem 0; min-width: 0; }
summary { cursor: pointer; font-weight: 500; }
figure details { border: 0; padding: 0; font-size: .88rem; }
pre {
  background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: .6rem .8rem;
  margin: .5rem 0; font: .84rem/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace;
  white-space: pre-wrap; overflow-x: auto; max-width: 100%;
}
@media (max-width: 40rem) {
  body { padding: 1rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  th, td { padding: .3rem .5rem; }
  svg.chart text { font-size: 16px; }
  .sides { grid-template-columns: 1fr; }
}
@media print {
  :root {
    --page: #ffffff; --ink: #000000; --soft: #444444; --rule: #bbbbbb; --panel: #f2f2f2;
    --link: #000000; --good: #000000; --bad: #000000;
    --c0: #0072b2; --c1: #c44e00; --c2: #00805d; --c3: #b0568a; --c4: #80700a;
    --c5: #6a4c9c; --c6: #1c84a8; --c7: #70757d; --c8: #000000;
  }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .skip { display: none; }
  .scroll { overflow: visible; }
  th, td { white-space: normal; padding: .2rem .4rem; }
  figure, tr, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
)css";

}  // namespace grm::report
