// Items in two dimensions by principal components, coloured by domain, class or error.
import { el, svg, note } from './dom.js';
import { percent, count } from './format.js';
import { seriesInk } from './colours.js';
import { choice, segmented, toolbar } from './controls.js';
import { frame, extent, figure, roomOf } from './chart.js';
import { plainLegend } from './marks.js';
import { tipped } from './tooltip.js';

const ROLES = ['train', 'validation', 'test'];

function groupsOf(data, how, answers) {
  if (how === 'class') return { of: k => data.class[k], names: data.labels };
  if (how === 'error' && answers) return { of: k => (data.class[k] < 0 ? 2 : answers.class[k] === data.class[k] ? 0 : 1), names: ['right', 'wrong', 'unknown'] };
  if (how === 'role') return { of: k => ROLES.indexOf(data.roles[data.domain[k]]), names: ROLES };
  return { of: k => data.domain[k], names: data.domains };
}

export function drawEmbedding(panel, context) {
  const { state, dataset } = context;
  const data = dataset.embedding;
  const answers = data.predicted.find(one => one.row === state.insideRow) || data.predicted[0];
  const spaces = data.spaces.filter(space => space.name === 'features' || space.name === answers?.row);
  const space = spaces.find(one => one.name === state.space) || spaces[spaces.length - 1] || data.spaces[0];
  const how = state.colour || 'role';
  const groups = groupsOf(data, how, answers);
  panel.append(toolbar(
    spaces.length > 1 ? segmented('Space', spaces.map(one => ({ value: one.name, text: one.name === 'features' ? 'features' : 'answers' })), space.name, value => context.change({ space: value })) : null,
    segmented('Colour', ['role', 'domain', 'class', ...(answers ? ['error'] : [])], how, colour => context.change({ colour }))));
  const width = roomOf(panel, 900);
  const xs = extent(space.x), ys = extent(space.y);
  const axis = (k, range) => ({ low: range[0], high: range[1], label: `component ${k + 1}, ${percent(100 * space.explained[k])} % of the variance`, grid: true });
  const picture = frame({ width, height: Math.round(Math.min(520, width * 0.7)), x: axis(0, xs), y: axis(1, ys), about: `${data.shown} items by the first two principal components, coloured by ${how}` });
  const present = new Set();
  const order = space.x.map((_, k) => k);
  if (how === 'error') order.sort((a, b) => groups.of(a) - groups.of(b)); // errors on top
  for (const k of order) {
    const group = groups.of(k);
    present.add(group);
    const test = data.roles[data.domain[k]] === 'test';
    const dot = svg('circle', { class: 'dot ' + (group < 0 ? 'grey' : how === 'error' ? ['m1', 'm0', 'grey'][group] : seriesInk(group)), cx: picture.sx(space.x[k]).toFixed(1), cy: picture.sy(space.y[k]).toFixed(1), r: test ? 3.6 : 2.8, 'fill-opacity': how === 'error' && group === 0 ? 0.35 : 0.75 });
    tipped(dot, () => [data.item[k] + ' of ' + data.domains[data.domain[k]], data.roles[data.domain[k]], 'class ' + (data.labels[data.class[k]] ?? 'unknown') + (answers ? ', answered ' + data.labels[answers.class[k]] : '')]);
    picture.plot.append(dot);
  }
  const entries = [...present].filter(group => group >= 0).sort((a, b) => a - b).slice(0, 24);
  panel.append(figure('Principal components of ' + space.about, picture.root), plainLegend(entries.map(group => ({ ink: how === 'error' ? ['m1', 'm0', 'grey'][group] : seriesInk(group), text: groups.names[group], shape: 'dot' }))),
    note(data.shown < data.of ? `${data.shown.toLocaleString('en')} of ${data.of.toLocaleString('en')} items are drawn, evenly sampled from every domain.` : count(data.shown, 'item') + ', all there are.'));
}
