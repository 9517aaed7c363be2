// New data for a trained model: an .npz file or tables, predictions and the explanation of one item.
import { el, svg, clear, download, note } from './dom.js';
import { button, toolbar } from './controls.js';
import { dataTable } from './table.js';
import { studio, failed } from './studio_state.js';

const SHOWN = 1000; // rows of predictions
const DRAWN = 120; // nodes of an explanation
const EDGES = 400;

// What is sent: the file as it is, or tables as text.
async function bodyOf(files) {
  const list = [...files];
  if (list.length === 0) throw new Error('Choose an .npz file, or the tables of nodes and edges.');
  if (list.length === 1 && list[0].name.endsWith('.npz')) {
    return new Blob([await list[0].arrayBuffer()], { type: 'application/octet-stream' });
  }
  const texts = {};
  for (const file of list) {
    if (!file.name.endsWith('.csv')) throw new Error(file.name + ' is neither one .npz file nor a .csv table.');
    texts[file.name] = await file.text();
  }
  return { files: texts };
}

const highest = row => (row.probabilities ? Math.max(...row.probabilities) : null);
const shown4 = value => (typeof value === 'number' ? value.toFixed(4) : '');

function predictionTable(answer) {
  const rows = answer.predictions.slice(0, SHOWN);
  return [
    answer.notes.map(note),
    rows.length < answer.items ? note('The first ' + rows.length + ' of ' + answer.items + ' items are shown; the CSV file has all of them.') : null,
    dataTable({
      caption: answer.items + ' items, by ' + answer.model,
      columns: [
        { title: 'domain', value: row => row.domain },
        { title: 'id', value: row => row.id },
        { title: 'label', value: row => row.label ?? (row.values || []).map(value => value.toPrecision(5)).join(', ') },
        { title: 'probability', numeric: true, value: highest, cell: row => shown4(highest(row)) },
        { title: 'spread', numeric: true, value: row => row.spread, cell: row => shown4(row.spread) },
        { title: 'entropy', numeric: true, value: row => row.entropy, cell: row => shown4(row.entropy) },
      ],
      rows,
    }),
  ];
}

function csvOf(answer) {
  const cell = text => (/[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : (/^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text));
  const numbers = answer.predictions.length > 0 && answer.predictions[0].values;
  const head = numbers
    ? ['domain', 'id', ...answer.classes]
    : ['domain', 'id', 'class', 'label', ...answer.classes.map(name => 'p_' + name), 'spread', 'entropy'];
  const lines = answer.predictions.map(row => (numbers
    ? [row.domain, row.id, ...row.values]
    : [row.domain, row.id, row.class ?? '', row.label ?? '', ...row.probabilities, row.spread ?? '', row.entropy]));
  return [head, ...lines].map(line => line.map(value => cell(String(value))).join(',')).join('\n') + '\n';
}

// Nodes on a circle around what is explained, the heaviest edges between them.
function picture(e) {
  const weight = new Map();
  for (const edge of e.edges) {
    for (const id of [edge.source, edge.target]) weight.set(id, (weight.get(id) || 0) + edge.weight);
  }
  const nodes = [...e.nodes].sort((a, b) => (weight.get(b.id) || 0) - (weight.get(a.id) || 0));
  const centre = nodes.findIndex(node => node.id === e.centre);
  if (centre > 0) nodes.unshift(...nodes.splice(centre, 1));
  const drawn = nodes.slice(0, DRAWN);
  const place = new Map(drawn.map((node, k) => {
    if (k === 0 && e.centre !== null) return [node.id, [300, 200]];
    const angle = (2 * Math.PI * k) / drawn.length;
    return [node.id, [300 + 260 * Math.cos(angle), 200 + 170 * Math.sin(angle)]];
  }));
  const edges = e.edges.filter(edge => place.has(edge.source) && place.has(edge.target)).sort((a, b) => b.weight - a.weight).slice(0, EDGES);
  const graph = svg('svg', { viewBox: '0 0 600 400', class: 'chart graph', role: 'img', 'aria-label': 'The graph behind the answer for ' + e.name });
  for (const edge of edges) {
    const [x1, y1] = place.get(edge.source);
    const [x2, y2] = place.get(edge.target);
    graph.append(svg('line', { x1, y1, x2, y2, class: edge.observed ? 'stroke' : 'stroke dashed', 'stroke-width': 0.5 + 3 * Math.min(1, Math.max(0, edge.weight)) },
      svg('title', {}, edge.source + ' - ' + edge.target + ': ' + edge.weight.toFixed(4) + ', ' + edge.fate)));
  }
  for (const node of drawn) {
    const [cx, cy] = place.get(node.id);
    graph.append(svg('circle', { cx, cy, r: node.id === e.centre ? 8 : 5, class: 'bar-fill' }, svg('title', {}, node.name)));
  }
  const all = drawn.length === e.nodes.length && edges.length === e.edges.length;
  return [graph, all ? null : note('Drawn are ' + drawn.length + ' of ' + e.nodes.length + ' nodes and the ' + edges.length + ' heaviest of ' + e.edges.length + ' edges.')];
}

function explanation(e) {
  return [
    el('p', { class: 'explained' }, e.level + ' ' + e.name + ': ' + e.predicted.label + ' with probability ' + e.predicted.probability.toFixed(4) + '.'),
    e.differ ? null : note('The weights do not differ by more than their spread: which is heavier is chance.'),
    picture(e),
    button('Keep as JSON', () => download('explanation.json', JSON.stringify(e), 'application/json')),
  ];
}

export const askPanel = {
  id: 'ask',
  title: 'Ask a model about new data',
  short: 'Ask',
  uses: ['asked'],
  draw(root, context) {
    const out = el('div', { role: 'status' });
    const files = el('input', { type: 'file', id: 'ask-files', multiple: true, accept: '.npz,.csv' });
    const item = el('input', { type: 'text', id: 'ask-item', autocomplete: 'off' });
    if (!studio.run) {
      root.append(note('Choose a finished run in the list above with Ask.'));
      return;
    }
    const ask = async (path, parameters, show) => {
      clear(out).append(note('Asking ...'));
      try {
        const answer = await context.source.post(path, await bodyOf(files.files), { run: studio.run, ...parameters });
        clear(out).append(...show(answer).flat(3).filter(Boolean));
      } catch (error) {
        failed(out, error);
      }
    };
    root.append(
      el('p', {}, 'Model: ', el('code', {}, studio.run)),
      toolbar(
        el('div', { class: 'control' }, el('label', { for: 'ask-files' }, 'An .npz file, or nodes.csv and edges.csv'), files),
        button('Predict', () => ask('/api/predict', {}, answer => [
          button('Keep as CSV', () => download('predictions.csv', csvOf(answer))), ...predictionTable(answer)]), { id: 'ask-predict' }),
        el('div', { class: 'control' }, el('label', { for: 'ask-item' }, 'Item'), item),
        button('Explain', () => ask('/api/explain', { item: item.value }, explanation), { id: 'ask-explain' })),
      out);
  },
};
