// Why this item: the observed and the generated graph in one picture, weights on an absolute scale.
import { el, svg, note, clear } from './dom.js';
import { percent, short, isNumber, cut } from './format.js';
import { choice, segmented, slider, searchBox, checkBox, toolbar } from './controls.js';
import { roomOf, numbers } from './chart.js';
import { plainLegend } from './marks.js';
import { tipped } from './tooltip.js';
import { forceLayout } from './force.js';

const OBSERVED = 1, TRUTH = 2, CLEAR = 4;

function edgesOf(item, seed) {
  return item.edges.map(([source, target, weight, spread, flags, seeds]) => ({
    source, target, spread, flags, seeds,
    weight: seed > 0 && isNumber(seeds[seed]) ? seeds[seed] : weight,
    known: seed === 0 || isNumber(seeds[seed]),
  }));
}

function kindOf(item, edge, side) {
  if (side === 'observed') return edge.flags & TRUTH ? 'truth' : 'observed';
  if (!item.differ) return 'plain-weight';
  if (!(edge.flags & OBSERVED)) return 'added';
  return edge.weight >= item.threshold ? 'kept' : 'weakened';
}

function itemList(context, data, current, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const list = data.items.filter(item => {
    const text = [item.name, item.domain, item.why, 'predicted ' + item.predicted, 'true ' + item.true].join(' ').toLowerCase();
    return wanted.every(word => text.includes(word));
  });
  return el('ul', { class: 'items', 'aria-label': 'Items' }, list.map(item => el('li', {}, el('button', {
    type: 'button', 'aria-pressed': String(item === current), 'data-focus': 'item ' + item.name + item.item, onclick: () => context.change({ item: item.item }),
  }, item.name + ' → ' + item.predicted + ' ' + percent(100 * item.probability) + ' %', el('small', {}, item.why)))),
  list.length ? null : el('li', {}, el('p', { class: 'note' }, 'No item of the page has these words. grm explain writes any item.')));
}

function drawGraph(box, item, data, options) {
  clear(box);
  const width = roomOf(box, 900), height = Math.round(Math.min(540, Math.max(300, width * 0.62)));
  const edges = edgesOf(item, options.seed);
  const links = edges.filter(edge => edge.flags & OBSERVED).map(edge => [edge.source, edge.target, 1]);
  const places = forceLayout(item.nodes.length, links.length ? links : edges.map(edge => [edge.source, edge.target, edge.weight]), item.centre);
  const room = 34;
  const at = k => ({ x: room + places[k].x * (width - 2 * room), y: room + places[k].y * (height - 2 * room) });
  const scaleOf = edge => (data.generated ? Math.max(0, Math.min(1, edge.weight)) : item.high > item.low ? (edge.weight - item.low) / (item.high - item.low) : 0.5);
  const root = svg('svg', { class: 'chart graph', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `${item.nodes.length} nodes around ${item.name}, ${options.side} graph` });
  const lines = svg('g'), dots = svg('g');
  root.append(lines, dots);
  let drawn = 0;
  for (const edge of edges) {
    const observed = edge.flags & OBSERVED;
    if (options.side === 'observed' ? !observed : (!edge.known || edge.weight < options.least || edge.spread > options.most)) continue;
    drawn += 1;
    const a = at(edge.source), b = at(edge.target);
    const kind = kindOf(item, edge, options.side);
    const wide = options.side === 'observed' || !item.differ ? 1.6 : 0.6 + 6 * scaleOf(edge);
    const line = svg('line', { class: `edge ${kind}${options.side !== 'observed' && item.differ && !(edge.flags & CLEAR) ? ' unclear' : ''}`, x1: a.x, y1: a.y, x2: b.x, y2: b.y, 'stroke-width': wide.toFixed(1) });
    tipped(line, () => [item.nodes[edge.source].name + ' – ' + item.nodes[edge.target].name,
      (data.generated ? 'weight ' : 'score ') + short(edge.weight) + (edge.spread > 0 ? ' ± ' + short(edge.spread) : ''), observed ? 'observed' + (edge.flags & TRUTH ? ', known to make the label' : '') : 'new',
      edge.flags & CLEAR ? '' : 'not told from the mean ' + short(item.threshold),
      edge.seeds.length > 1 ? 'by seed: ' + edge.seeds.map(short).join(', ') : ''].filter(Boolean));
    lines.append(line);
  }
  const few = item.nodes.length <= 40;
  item.nodes.forEach((node, k) => {
    const p = at(k), target = k === item.centre;
    const presence = isNumber(node.presence) ? node.presence : 1;
    const radius = (target ? 11 : few ? 8 : 5) * (0.45 + 0.55 * presence);
    const dot = svg('circle', { class: 'node' + (target ? ' target' : ''), cx: p.x, cy: p.y, r: radius.toFixed(1) });
    tipped(dot, () => [(target ? 'explained: ' : '') + node.name, isNumber(node.presence) ? 'presence ' + short(node.presence) : '', isNumber(node.distance) ? 'distance of z from h ' + short(node.distance) : ''].filter(Boolean));
    dots.append(dot);
    if (target && item.true !== null && item.true !== item.predicted) dots.append(svg('path', { class: 'hatch', d: `M${p.x - 7},${p.y + 7}L${p.x + 7},${p.y - 7}M${p.x - 9},${p.y + 1}L${p.x + 1},${p.y - 9}M${p.x - 1},${p.y + 9}L${p.x + 9},${p.y - 1}` }));
    if (few || target) dots.append(svg('text', { x: p.x, y: p.y + radius + 12 }, cut(node.name, 12)));
  });
  box.append(root);
  return { drawn, all: edges.length };
}

function legendOf(item, data) {
  if (!item.differ) return plainLegend([{ ink: 'grey', text: data.generated ? 'weight, too even to tell apart' : 'score', shape: 'line' }]);
  return plainLegend([{ ink: 'm1', text: 'observed, kept', shape: 'line' }, { ink: 'm0', text: 'observed, weakened', shape: 'dash' }, ...(data.generated ? [{ ink: 'm2', text: 'new', shape: 'dash' }] : [])]);
}

export const explanations = {
  id: 'explanations',
  title: 'Why this item',
  short: 'Why',
  uses: ['dataset', 'item', 'side', 'seed'],
  has: context => context.document.datasets.some(dataset => dataset.explanations?.items.length),
  draw(root, context) {
    const data = context.dataset.explanations;
    if (!data || !data.items.length) {
      root.append(note('There is no explanation for ' + context.dataset.name + '.'));
      return;
    }
    const { state } = context;
    const item = data.items.find(one => one.item === state.item) || data.items[0];
    const side = state.side || (data.generated ? 'generated' : 'weighed');
    const seed = Math.min(state.seed || 0, item.seeds.length - 1);
    root.append(el('p', { class: 'lead' }, data.words.join(' ')));
    const listBox = el('div', {}, itemList(context, data, item, state.words || ''));
    const search = searchBox('Item', state.words || '', words => {
      state.words = words;
      clear(listBox).append(itemList(context, data, item, words));
    });
    const graph = el('div', { class: 'graph-box' });
    const shown = el('p', { class: 'note', role: 'status' });
    const widest = Math.max(...item.edges.map(edge => edge[3]), 0);
    const options = { side, seed, least: 0, most: Infinity };
    const redraw = () => {
      const { drawn, all } = drawGraph(graph, item, data, options);
      const hidden = item.new_edges - item.edges.filter(edge => !(edge[4] & OBSERVED)).length;
      shown.textContent = `${drawn} of ${all} edges are drawn` + (hidden > 0 ? `; of ${item.new_edges} new edges the heaviest are kept` : '') + '.';
    };
    const highest = data.generated ? 1 : item.high;
    const tools = toolbar(
      segmented('Graph', [{ value: 'observed', text: 'observed' }, data.generated ? { value: 'generated', text: 'generated' } : { value: 'weighed', text: 'weighed' }], side, value => context.change({ side: value })),
      item.seeds.length > 1 ? choice('Seed', item.seeds.map((one, k) => ({ value: k, text: one.seed + ' → ' + one.predicted })), seed, value => context.change({ seed: value })) : null,
      side === 'observed' ? null : slider('Weight from', { low: data.generated ? 0 : Math.min(0, item.low), high: highest, step: (highest - Math.min(0, item.low)) / 200 || 0.01, value: data.generated ? 0 : Math.min(0, item.low), text: short }, value => {
        options.least = value;
        redraw();
      }),
      side === 'observed' || !(widest > 0) ? null : slider('Spread up to', { low: 0, high: widest, step: widest / 100, value: widest, text: short }, value => {
        options.most = value >= widest ? Infinity : value;
        redraw();
      }));
    options.least = data.generated ? 0 : -Infinity;
    const wrong = item.true !== null && item.true !== item.predicted;
    root.append(el('div', { class: 'explorer' },
      el('div', {}, search, listBox),
      el('div', {},
        el('h3', {}, (data.level === 'graph' ? 'Graph ' : 'Node ') + item.name + ' of ' + item.domain + ', by ' + data.row),
        el('p', {}, `Predicted ${item.predicted} with probability ${item.probability.toFixed(2)}` + (item.true === null ? '.' : wrong ? `; the truth is ${item.true}.` : ', which is right.')),
        item.differ ? null : el('p', { class: 'warning' }, 'The weights do not differ by more than their spread, so they are not drawn as if they did.'),
        tools, graph, shown, legendOf(item, data),
        el('ul', { class: 'facts' }, item.facts.map(text => el('li', {}, text))),
        numbers([
          { title: 'edge', value: e => item.nodes[e.source].name + ' – ' + item.nodes[e.target].name },
          { title: 'weight', numeric: true, value: e => e.weight }, { title: 'spread', numeric: true, value: e => e.spread },
          { title: 'observed', value: e => (e.flags & OBSERVED ? 'yes' : 'new') },
          ...item.seeds.slice(1).map((one, k) => ({ title: 'seed ' + one.seed, numeric: true, value: e => e.seeds[k + 1] })),
        ], edgesOf(item, 0), 'Edges of ' + item.name))));
    redraw();
  },
};
