// Tables that sort, filter and can be kept as CSV.
import { el, clear, download } from './dom.js';
import { searchBox, button } from './controls.js';
import { count } from './format.js';

const ROWS = 200; // drawn at a time

function plain(column, row) {
  const value = column.value(row);
  return value === null || value === undefined ? '' : String(value);
}

// As the program writes CSV: what a spreadsheet would take for a formula gets a ' in front.
function csvCell(text) {
  const guarded = /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(guarded) ? '"' + guarded.replaceAll('"', '""') + '"' : guarded;
}

function compare(a, b) {
  const empty = v => v === null || v === undefined || v === '' || Number.isNaN(v);
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
}

// columns: {title, value(row), cell(row)?, numeric?, about?}. `value` sorts, filters and goes into CSV;
// `cell` is what is shown: text or a node. sort: {column, down}. `totals` are rows that stay below.
export function dataTable({ caption, columns, rows, totals = [], sort = null, filter = true, csv = '', marked = () => false }) {
  let order = sort ? { ...sort } : null;
  let words = '';
  let limit = ROWS;
  const body = el('tbody');
  const status = el('span', { class: 'count', role: 'status' });
  const more = button('Show more rows', () => {
    limit *= 4;
    draw();
  });
  const heads = columns.map((column, k) =>
    el(
      'th',
      { scope: 'col', class: column.numeric ? 'number' : 'text' },
      el(
        'button',
        {
          type: 'button', title: column.about, 'data-focus': (caption || '') + ' ' + column.title,
          onclick: () => {
            order = { column: k, down: order && order.column === k ? !order.down : !!column.numeric };
            draw();
          },
        },
        column.title,
        el('span', { class: 'arrow', 'aria-hidden': 'true' }),
      ),
    ),
  );
  const found = () => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const hit = rows.filter(row => {
      const text = columns.map(column => plain(column, row)).join(' ').toLowerCase();
      return wanted.every(word => text.includes(word));
    });
    if (!order) return hit;
    const column = columns[order.column];
    const sorted = [...hit].sort((a, b) => compare(column.value(a), column.value(b)));
    if (order.down) {
      const known = sorted.filter(row => compare(column.value(row), null) !== 0 && column.value(row) !== '');
      const empty = sorted.filter(row => !known.includes(row));
      return [...known.reverse(), ...empty];
    }
    return sorted;
  };
  const line = (row, total) =>
    el(
      'tr',
      { class: total ? 'total' : marked(row) ? 'marked' : null },
      columns.map((column, k) =>
        el(
          k === 0 ? 'th' : 'td',
          { scope: k === 0 ? 'row' : null, class: column.numeric ? 'number' : 'text' },
          column.cell ? column.cell(row) : plain(column, row),
        ),
      ),
    );
  const draw = () => {
    const hit = found();
    clear(body).append(...hit.slice(0, limit).map(row => line(row, false)), ...totals.map(row => line(row, true)));
    heads.forEach((head, k) =>
      head.setAttribute('aria-sort', order && order.column === k ? (order.down ? 'descending' : 'ascending') : 'none'),
    );
    status.textContent = hit.length === rows.length ? count(rows.length, 'row') : hit.length + ' of ' + count(rows.length, 'row');
    more.hidden = hit.length <= limit;
  };
  draw();
  const tools = el('div', { class: 'toolbar' });
  if (filter && rows.length > 4) {
    tools.append(
      searchBox('Filter', '', value => {
        words = value;
        draw();
      }),
      status,
    );
  }
  if (csv) {
    tools.append(
      button('CSV', () => {
        const lines = [columns.map(column => csvCell(column.title))];
        for (const row of [...found(), ...totals]) lines.push(columns.map(column => csvCell(plain(column, row))));
        download(csv + '.csv', lines.map(cells => cells.join(',') + '\n').join(''));
      }, { 'aria-label': 'Download as CSV: ' + (caption || csv) }),
    );
  }
  return el(
    'div',
    { class: 'tabled' },
    tools.childNodes.length ? tools : null,
    el(
      'div',
      { class: 'frame', tabindex: 0, role: 'region', 'aria-label': (caption || 'Table') + ', scrolls' },
      el('table', {}, caption ? el('caption', {}, caption) : null, el('thead', {}, el('tr', {}, heads)), body),
    ),
    more,
  );
}
