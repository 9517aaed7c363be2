// How far each domain lies from training, and which features moved most.
import { el, svg, note, folded } from './dom.js';
import { short, signed, cut, percent } from './format.js';
import { choice } from './controls.js';
import { tipped } from './tooltip.js';
import { dataTable } from './table.js';
import { roomOf } from './chart.js';

const ABOUT = {
  features: 'standardised difference of means, root mean square over all columns',
  column: 'the same of the column that moved most, in standard deviations',
  spread: 'largest difference of a column\'s distance from its mean',
  degrees: 'total variation distance of the degrees, 0 to 1',
  sizes: 'total variation distance of the numbers of nodes, 0 to 1',
  labels: 'total variation distance of the shares of classes, 0 to 1',
  homophily: 'difference of adjusted homophily',
  classifier: 'ROC-AUC of telling the domain from training, 0.5 to 1',
};

function measureTable(shift) {
  const all = [...new Set(shift.domains.flatMap(domain => domain.measures.map(m => m.what)))].sort((a, b) => Object.keys(ABOUT).indexOf(a) - Object.keys(ABOUT).indexOf(b));
  // A measure that chance explains does not fill its bar.
  const largest = Object.fromEntries(all.map(what => [what, Math.max(...shift.domains.flatMap(d => d.measures.filter(m => m.what === what).map(m => Math.max(m.value, 2 * m.chance))))]));
  return dataTable({
    caption: 'Distance from the training domains',
    rows: shift.domains, csv: 'shift',
    columns: [
      { title: 'domain', value: d => d.name },
      { title: 'role', value: d => d.role },
      { title: 'shift', value: d => ['none', 'mild', 'strong'].indexOf(d.level), cell: d => d.level },
      ...all.map(what => ({
        title: what, numeric: true, about: ABOUT[what],
        value: d => d.measures.find(m => m.what === what)?.value,
        cell: d => {
          const m = d.measures.find(one => one.what === what);
          if (!m) return '–';
          const low = what === 'classifier' ? 0.5 : 0;
          const share = (m.value - low) / Math.max(1e-9, largest[what] - low);
          return el('span', {}, short(m.value) + (m.level === 'none' ? '' : ' ' + m.level),
            paintedMeter(share));
        },
      })),
    ],
  });
}

function paintedMeter(share) {
  const fill = el('i');
  fill.style.width = Math.round(100 * Math.max(0, Math.min(1, share))) + '%';
  return el('span', { class: 'meter', 'aria-hidden': 'true' }, fill);
}

function columnBars(domain, width) {
  const list = domain.columns.slice(0, 10);
  const height = list.length * 24 + 8, name = Math.min(190, width * 0.42);
  const largest = Math.max(1e-9, ...list.map(c => Math.abs(c.difference)));
  const middle = name + (width - name) / 2, half = (width - name) / 2 - 44;
  const root = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'Features of ' + domain.name + ' that moved most, in standard deviations' });
  root.append(svg('line', { class: 'constant', x1: middle, x2: middle, y1: 0, y2: height }));
  list.forEach((column, k) => {
    const long = (half * Math.abs(column.difference)) / largest, y = k * 24 + 4;
    const bar = svg('rect', { class: 'bar-fill ' + (column.difference < 0 ? 'm0' : 'm1'), x: column.difference < 0 ? middle - long : middle, y, width: Math.max(1, long), height: 16, rx: 3 });
    tipped(bar, () => [column.name, signed(column.difference, 2) + ' standard deviations from training']);
    root.append(svg('text', { class: 'name', x: name - 8, y: y + 12, 'text-anchor': 'end' }, cut(column.name, Math.floor(name / 7))), bar,
      svg('text', { x: column.difference < 0 ? middle - long - 4 : middle + long + 4, y: y + 12, 'text-anchor': column.difference < 0 ? 'end' : 'start' }, signed(column.difference, 2)));
  });
  return root;
}

function lawTable(shift) {
  const labels = shift.labels;
  const rows = [{ name: 'training', role: 'train', law: shift.training }, ...shift.domains];
  const shares = l => l.label_shares.map((s, k) => (labels[k] || k) + ' ' + percent(100 * s)).join(', ');
  return dataTable({
    caption: 'The domains in numbers', rows, csv: 'domains',
    columns: [
      { title: 'domain', value: d => d.name },
      { title: 'role', value: d => d.role },
      { title: 'items', numeric: true, value: d => d.law.items, cell: d => d.law.items.toLocaleString('en') },
      { title: 'mean degree', numeric: true, value: d => d.law.mean_degree },
      ...(shift.training.mean_nodes ? [{ title: 'nodes/graph', numeric: true, value: d => d.law.mean_nodes }] : [{ title: 'homophily', numeric: true, value: d => d.law.homophily ?? null }]),
      { title: 'labels, percent', value: d => shares(d.law) },
    ],
  });
}

export const shift = {
  id: 'shift',
  title: 'Shift between domains',
  short: 'Shift',
  uses: ['dataset', 'shifted'],
  has: context => context.document.datasets.some(dataset => dataset.shift),
  draw(root, context) {
    const data = context.dataset.shift;
    if (!data) {
      root.append(note('The shift of this dataset was not measured.'));
      return;
    }
    root.append(el('p', { class: 'lead' }, data.text));
    const names = data.domains.map(domain => domain.name);
    const domain = data.domains.find(one => one.name === context.state.shifted) || [...data.domains].sort((a, b) => strength(b) - strength(a))[0];
    const left = el('div', { class: 'card seven' }, measureTable(data)), right = el('div', { class: 'card five' });
    root.append(el('div', { class: 'grid12' }, left, right));
    if (domain) {
      right.append(el('h3', {}, 'Features that moved most'), choice('Domain', names, domain.name, name => context.change({ shifted: name })));
      if (domain.columns.length) {
        const picture = el('div', { class: 'gap-above' });
        right.append(picture);
        picture.append(columnBars(domain, roomOf(picture, 560)), note('In standard deviations of training; orange fell, blue rose.'));
      }
      right.append(el('p', { class: 'gap-above' }, domain.text));
    }
    if (data.advice.length) root.append(el('ul', { class: 'words-list' }, data.advice.map(text => el('li', {}, text))));
    root.append(folded('The domains in numbers', lawTable(data)));
  },
};

function strength(domain) {
  return ['none', 'mild', 'strong'].indexOf(domain.level) * 10 + (domain.role === 'test' ? 1 : 0);
}
