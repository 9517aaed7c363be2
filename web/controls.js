// Inputs. Each has a visible name; `data-focus` lets the focus survive when a view is drawn again.
import { el, freshId } from './dom.js';

// A list to choose one of. `options` are texts or {value, text}.
export function choice(label, options, value, change) {
  const id = freshId('choice');
  const list = options.map(option => (typeof option === 'object' ? option : { value: option, text: option }));
  const box = el(
    'select',
    { id, 'data-focus': label, onchange: event => change(list[event.target.selectedIndex].value) },
    list.map(option => el('option', { value: String(option.value) }, option.text)),
  );
  box.selectedIndex = Math.max(0, list.findIndex(option => option.value === value));
  return el('div', { class: 'control' }, el('label', { for: id }, label), box);
}

// A few choices side by side.
export function segmented(label, options, value, change) {
  const list = options.map(option => (typeof option === 'object' ? option : { value: option, text: option }));
  return el(
    'div',
    { class: 'segmented', role: 'group', 'aria-label': label },
    list.map(option =>
      el(
        'button',
        {
          type: 'button',
          'aria-pressed': String(option.value === value),
          'data-focus': label + ' ' + option.text,
          onclick: () => change(option.value),
        },
        option.text,
      ),
    ),
  );
}

export function slider(label, { low, high, step, value, text = String }, change) {
  const id = freshId('slider');
  const shown = el('output', { for: id }, text(value));
  const box = el('input', {
    id, type: 'range', min: low, max: high, step, value, 'data-focus': label, 'aria-valuetext': text(value),
    oninput: event => {
      const now = Number(event.target.value);
      shown.textContent = text(now);
      event.target.setAttribute('aria-valuetext', text(now));
      change(now);
    },
  });
  return el('div', { class: 'control wide' }, el('label', { for: id }, label), box, shown);
}

export function searchBox(label, value, change) {
  const id = freshId('search');
  return el(
    'div',
    { class: 'control' },
    el('label', { for: id }, label),
    el('input', {
      id, type: 'search', value, 'data-focus': label, autocomplete: 'off', spellcheck: 'false',
      oninput: event => change(event.target.value),
    }),
  );
}

export function checkBox(label, value, change) {
  const id = freshId('check');
  const box = el('input', { id, type: 'checkbox', 'data-focus': label, onchange: event => change(event.target.checked) });
  box.checked = value;
  return el('div', { class: 'control check' }, box, el('label', { for: id }, label));
}

export function button(text, click, attributes = {}) {
  return el('button', { type: 'button', class: 'button', 'data-focus': text, onclick: click, ...attributes }, text);
}

export function toolbar(...parts) {
  return el('div', { class: 'toolbar' }, ...parts);
}

// Panels of which one is shown. `parts` are {id, text, draw(panel)}; left and right move between them.
export function tabs(label, parts, value, change) {
  const stem = freshId('tabs');
  const current = parts.find(part => part.id === value) || parts[0];
  const list = el('div', { class: 'tabs', role: 'tablist', 'aria-label': label });
  parts.forEach((part, k) => {
    list.append(
      el(
        'button',
        {
          type: 'button', role: 'tab', id: stem + part.id, 'aria-selected': String(part === current),
          'aria-controls': stem + 'panel', tabindex: part === current ? 0 : -1, 'data-focus': label + ' ' + part.text,
          onclick: () => change(part.id),
          onkeydown: event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const next = parts[(k + step + parts.length) % parts.length];
            list.querySelector('#' + stem + next.id).focus();
            change(next.id);
          },
        },
        part.text,
      ),
    );
  });
  const panel = el('div', { class: 'panel', role: 'tabpanel', id: stem + 'panel', tabindex: 0, 'aria-labelledby': stem + current.id });
  return { nodes: [list, panel], panel, draw: () => current.draw(panel) };
}
