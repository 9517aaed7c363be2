// Charts as SVG: axes, lines with bands, intervals; hover, arrow keys, and the numbers as a table.
import { el, svg, folded } from './dom.js';
import { short, isNumber } from './format.js';
import { showTip, hideTip } from './tooltip.js';
import { dataTable } from './table.js';

// Round numbers from low to high, about `wanted` of them.
export function ticks(low, high, wanted = 5) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const raw = span / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && list.length < 50; k += 1) list.push(k * step);
  return list;
}

export function logTicks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / 6));
  const list = [];
  for (let k = first; k <= last; k += step) list.push(10 ** k);
  return list.length > 1 ? list : [low, high];
}

// low and high of numbers with some room; never an empty stretch.
export function extent(values, room = 0.05) {
  const known = values.filter(isNumber);
  if (!known.length) return [0, 1];
  let low = known.reduce((a, b) => Math.min(a, b)), high = known.reduce((a, b) => Math.max(a, b));
  if (!(high - low > 0)) {
    const half = Math.abs(low) > 0 ? Math.abs(low) * 0.05 : 0.5;
    return [low - half, high + half];
  }
  const add = (high - low) * room;
  return Number.isFinite(add) ? [low - add, high + add] : [low, high];
}

function scale(axis, from, to) {
  const place = axis.log ? v => Math.log(v) : v => v;
  const low = place(axis.low), span = place(axis.high) - low || 1;
  return v => from + ((place(v) - low) / span) * (to - from);
}

// x and y: {low, high, label, log, ticks, text}. Returns the picture with the functions that place
// things in it. `about` is what a screen reader says.
export function frame({ width, height, x, y, about, left = 46, right = 12, top = 12, bottom = 38 }) {
  const root = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': about });
  const sx = scale(x, left, width - right), sy = scale(y, height - bottom, top);
  const grid = svg('g', { class: 'grid' }), words = svg('g', { class: 'words' });
  const yTicks = y.ticks || (y.log ? logTicks(y.low, y.high) : ticks(y.low, y.high, Math.max(2, height / 55)));
  for (const tick of yTicks) {
    grid.append(svg('line', { x1: left, x2: width - right, y1: sy(tick), y2: sy(tick) }));
    words.append(svg('text', { x: left - 6, y: sy(tick) + 4, 'text-anchor': 'end' }, y.text ? y.text(tick) : short(tick)));
  }
  const xTicks = x.ticks || (x.log ? logTicks(x.low, x.high) : ticks(x.low, x.high, Math.max(2, width / 90)));
  for (const tick of xTicks) {
    if (x.grid) grid.append(svg('line', { x1: sx(tick), x2: sx(tick), y1: top, y2: height - bottom }));
    words.append(svg('text', { x: sx(tick), y: height - bottom + 16, 'text-anchor': 'middle' }, x.text ? x.text(tick) : short(tick)));
  }
  grid.append(svg('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  if (x.label) words.append(svg('text', { class: 'label', x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, x.label));
  if (y.label) words.append(svg('text', { class: 'label', x: -(top + height - bottom) / 2, y: 11, 'text-anchor': 'middle', transform: 'rotate(-90)' }, y.label));
  const plot = svg('g');
  root.append(grid, words, plot);
  return { root, plot, sx, sy, left, right: width - right, top, bottom: height - bottom, width, height };
}

export function linePath(points, sx, sy) {
  return points.map(([x, y], k) => (k ? 'L' : 'M') + sx(x).toFixed(1) + ',' + sy(y).toFixed(1)).join('');
}

// series: {name, ink, dashed, epoch, mean, std, band}. Draws lines, bands, and names at their ends where they are few.
export function drawLines(picture, series, { named = true } = {}) {
  const { plot, sx, sy } = picture;
  const ends = [];
  for (const one of series) {
    const points = one.epoch.map((x, k) => [x, one.mean[k], one.std ? one.std[k] : 0]).filter(p => isNumber(p[1]) && (!picture.log || p[1] > 0));
    if (!points.length) continue;
    if (one.band && points.some(p => p[2] > 0)) {
      const floor = picture.log ? Math.min(...points.map(p => p[1])) / 10 : -Infinity;
      const upper = points.map(p => [p[0], p[1] + p[2]]), lower = points.map(p => [p[0], Math.max(p[1] - p[2], floor)]).reverse();
      plot.append(svg('path', { class: 'band ' + one.ink, d: linePath([...upper, ...lower], sx, sy) + 'Z' }));
    }
    plot.append(
      points.length > 1
        ? svg('path', { class: 'stroke ' + one.ink + (one.dashed ? ' dashed' : ''), d: linePath(points, sx, sy) })
        : svg('circle', { class: 'dot ' + one.ink, cx: sx(points[0][0]), cy: sy(points[0][1]), r: 4 }),
    );
    ends.push({ one, y: sy(points[points.length - 1][1]) });
  }
  if (!named || ends.length > 6) return;
  ends.sort((a, b) => a.y - b.y);
  let last = -Infinity;
  for (const end of ends) {
    end.y = Math.max(end.y, last + 13);
    last = end.y;
  }
  let room = picture.bottom + 4;
  for (const end of ends.reverse()) {
    end.y = Math.min(end.y, room);
    room = end.y - 13;
    plot.append(svg('text', { class: 'end', x: picture.right + 6, y: end.y + 4 }, end.one.short || end.one.name));
  }
}

// The values of all series at the pointer, or at the place that the arrow keys reach.
export function followLines(picture, series, text) {
  const places = [...new Set(series.flatMap(one => one.epoch))].sort((a, b) => a - b);
  if (!places.length) return;
  const cursor = svg('line', { class: 'cursor', y1: picture.top, y2: picture.bottom, visibility: 'hidden' });
  picture.plot.append(cursor);
  let at = -1;
  const show = (k, clientX, clientY) => {
    at = k;
    const x = picture.sx(places[k]);
    cursor.setAttribute('x1', x);
    cursor.setAttribute('x2', x);
    cursor.setAttribute('visibility', 'visible');
    showTip(text(places[k]), clientX, clientY);
  };
  const hide = () => {
    cursor.setAttribute('visibility', 'hidden');
    hideTip();
  };
  picture.root.setAttribute('tabindex', '0');
  picture.root.addEventListener('pointermove', event => {
    const box = picture.root.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * picture.width;
    let best = 0;
    places.forEach((place, k) => {
      if (Math.abs(picture.sx(place) - x) < Math.abs(picture.sx(places[best]) - x)) best = k;
    });
    show(best, event.clientX, event.clientY);
  });
  picture.root.addEventListener('pointerleave', hide);
  picture.root.addEventListener('blur', hide);
  picture.root.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const k = Math.max(0, Math.min(places.length - 1, at + step));
    const box = picture.root.getBoundingClientRect();
    show(k, box.left + (picture.sx(places[k]) / picture.width) * box.width, box.top + 30);
  });
}

// A value of a series at a place, or nothing.
export function valueAt(one, place) {
  const k = one.epoch.indexOf(place);
  return k < 0 ? null : { mean: one.mean[k], std: one.std ? one.std[k] : 0 };
}

export function figure(title, picture, ...below) {
  return el('figure', {}, title ? el('figcaption', {}, title) : null, picture, ...below);
}

// The numbers behind a picture, for those who cannot see it or want them.
export function numbers(columns, rows, name) {
  return folded('Numbers', dataTable({ caption: name, columns, rows, csv: name.replace(/[^\w-]+/g, '-').toLowerCase() }));
}

// The room that a chart has.
export function roomOf(node, most = 720) {
  return Math.max(260, Math.min(most, Math.floor(node.clientWidth || most)));
}
