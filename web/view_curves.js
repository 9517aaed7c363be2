// Training curves: validation above, below it the terms of the loss as they enter the total.
import { el, note } from './dom.js';
import { short, scaleOf, count, isNumber } from './format.js';
import { inkOf, seriesInk } from './colours.js';
import { checkBox } from './controls.js';
import { frame, extent, drawLines, followLines, valueAt, figure, numbers, roomOf } from './chart.js';
import { legend, plainLegend } from './marks.js';

function epochsOf(series) {
  const all = series.flatMap(one => one.epoch);
  const low = Math.min(...all), high = Math.max(...all);
  return { low, high: high > low ? high : low + 1, label: 'epoch' };
}

function valuesOf(series) {
  return series.flatMap(one => one.mean.flatMap((m, k) => (one.band ? [m - (one.std?.[k] || 0), m + (one.std?.[k] || 0)] : [m])));
}

function curveFigure(title, series, { width, height, label, text }) {
  const values = valuesOf(series).filter(isNumber);
  const positive = series.every(one => one.mean.every(v => v > 0));
  const means = series.flatMap(one => one.mean);
  const log = label === 'loss' && positive && Math.max(...means) > 30 * Math.min(...means);
  const range = log ? [Math.min(...means) * 0.8, Math.max(...means) * 1.2] : extent(values);
  const named = series.length <= 6;
  const right = named ? Math.min(130, 14 + 7 * Math.max(...series.map(one => (one.short || one.name).length))) : 12;
  const picture = frame({ width, height, right, left: 52, x: epochsOf(series), y: { low: range[0], high: range[1], log, label: label + (log ? ', logarithmic' : '') }, about: title });
  picture.log = log;
  drawLines(picture, series, { named });
  followLines(picture, series, place => ['epoch ' + place, ...series.map(one => {
    const at = valueAt(one, place);
    return at ? one.name + ': ' + text(at.mean) + (at.std > 0 ? ' ± ' + text(at.std) : '') : null;
  }).filter(Boolean)]);
  const rows = series.flatMap(one => one.epoch.map((epoch, k) => ({ name: one.name, epoch, mean: one.mean[k], std: one.std?.[k] })));
  return figure(title, picture.root, named ? null : plainLegend(series.map(one => ({ ink: one.ink, text: one.name, shape: one.dashed ? 'dash' : 'line' }))),
    numbers([{ title: 'line', value: r => r.name }, { title: 'epoch', numeric: true, value: r => r.epoch }, { title: 'mean', numeric: true, value: r => r.mean }, { title: 'deviation', numeric: true, value: r => r.std }], rows, title));
}

export function drawCurves(panel, context) {
  const { dataset, state } = context;
  const curves = context.document.curves.filter(curve => curve.dataset === dataset.name);
  const mine = curves.find(curve => curve.row === state.insideRow) || curves[0];
  const half = panel.clientWidth > 900;
  const width = half ? Math.floor(panel.clientWidth / 2) - 12 : roomOf(panel, 1400);
  const boxes = el('div', { class: 'grid12' });
  panel.append(boxes);
  const validated = curves.filter(curve => curve.validation?.epoch.length);
  if (validated.length) {
    const series = validated.map(curve => ({ ...curve.validation, name: curve.row, short: curve.row.slice(0, 18), ink: inkOf(curve.row), band: true, dashed: curve.finished < curve.runs }));
    boxes.append(el('div', { class: half ? 'half' : 'all' }, curveFigure('Validation: ' + scaleOf(dataset).title, series, { width, height: 300, label: 'validation', text: scaleOf(dataset).text })));
  }
  const weighted = mine.terms.filter(term => isNumber(term.weight));
  const rest = mine.terms.filter(term => !isNumber(term.weight));
  const shown = state.unweighted ? mine.terms : weighted;
  const series = shown.map((term, k) => {
    const weight = isNumber(term.weight) ? term.weight : 1;
    const times = term.name === 'total' || weight === 1 ? '' : ' × ' + short(weight);
    return { epoch: term.series.epoch, mean: term.series.mean.map(v => v * weight), std: term.series.std.map(v => v * Math.abs(weight)), name: term.name + times, short: term.name, ink: term.name === 'total' ? 'm7' : seriesInk(k), band: term.name === 'total', dashed: !isNumber(term.weight) };
  }).filter(one => one.epoch.length);
  if (series.length) {
    boxes.append(el('div', { class: half ? 'half' : 'all' }, curveFigure('Loss of ' + mine.row + ', terms as they enter the total', series, { width, height: 300, label: 'loss', text: short })));
  }
  if (rest.length) panel.append(checkBox('Also terms that are not a part of the sum (' + rest.map(term => term.name).join(', ') + ')', !!state.unweighted, unweighted => context.change({ unweighted })));
  panel.append(note('Means over ' + count(mine.runs, 'run') + (mine.finished < mine.runs ? ', ' + (mine.runs - mine.finished) + ' not finished' : '') + '; bands are the deviation over seeds. Hover, or focus a picture and use the arrow keys.'));
}
