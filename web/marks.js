// Marks of rows, legends and names with their mark in front.
import { el, svg } from './dom.js';
import { lookOf, inkOf } from './colours.js';

const SHAPES = {
  circle: r => 'M' + -r + ',0a' + r + ',' + r + ' 0 1,0 ' + 2 * r + ',0a' + r + ',' + r + ' 0 1,0 ' + -2 * r + ',0',
  square: r => 'M' + -r * 0.9 + ',' + -r * 0.9 + 'h' + 1.8 * r + 'v' + 1.8 * r + 'h' + -1.8 * r + 'z',
  triangle: r => 'M0,' + -1.15 * r + 'L' + 1.1 * r + ',' + 0.85 * r + 'H' + -1.1 * r + 'z',
  diamond: r => 'M0,' + -1.25 * r + 'L' + 1.25 * r + ',0L0,' + 1.25 * r + 'L' + -1.25 * r + ',0z',
  cross: r => {
    const a = r * 1.1, b = r * 0.38;
    return `M${-b},${-a}H${b}V${-b}H${a}V${b}H${b}V${a}H${-b}V${b}H${-a}V${-b}H${-b}z`;
  },
  down: r => 'M0,' + 1.15 * r + 'L' + 1.1 * r + ',' + -0.85 * r + 'H' + -1.1 * r + 'z',
};

export function markPath(mark, radius) {
  return SHAPES[mark](radius);
}

// The mark of a row at a place of a chart.
export function markAt(name, x, y, radius = 5) {
  return svg('path', { class: 'mark ' + inkOf(name), d: markPath(lookOf(name).mark, radius), transform: `translate(${x.toFixed(1)},${y.toFixed(1)})` });
}

export function swatch(name) {
  return svg('svg', { class: 'swatch', viewBox: '-7 -7 14 14', 'aria-hidden': 'true' }, svg('path', { class: 'mark ' + inkOf(name), d: markPath(lookOf(name).mark, 5) }));
}

export function rowName(name) {
  return el('span', { class: 'row-name' }, swatch(name), el('span', {}, name));
}

export function legend(names) {
  return el('ul', { class: 'legend' }, names.map(name => el('li', {}, rowName(name))));
}

// Entries {ink, text, shape: 'dot' | 'line' | 'dash'}.
export function plainLegend(entries) {
  return el('ul', { class: 'legend' }, entries.map(({ ink, text, shape }) =>
    el('li', {}, svg('svg', { class: 'swatch', viewBox: '-7 -7 14 14', 'aria-hidden': 'true' },
      shape === 'dot'
        ? svg('circle', { class: 'dot ' + ink, r: 5 })
        : svg('line', { class: 'stroke ' + ink + (shape === 'dash' ? ' dashed' : ''), x1: -7, x2: 7, y1: 0, y2: 0 })),
    text)));
}
