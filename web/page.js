// The frame of the page: head, section bar, theme, state, and when which view is drawn.
import { el, clear } from './dom.js';
import { choice, segmented } from './controls.js';
import { assignLooks } from './colours.js';
import { hideTip } from './tooltip.js';
import { views } from './views.js';

const VERSION = 1;

function stored(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // a browser that keeps nothing for files
  }
  return null;
}

// The colours that were chosen; 'auto': the system's.
let theme = 'auto';

function setTheme(chosen) {
  theme = chosen;
  const dark = theme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

// Every name that has a colour.
function rowNames(data) {
  return [...data.datasets.flatMap(dataset => dataset.rows.map(row => row.name)), ...(data.curves || []).map(curve => curve.row)];
}

function chosenDataset(data, name) {
  return data.datasets.find(dataset => dataset.name === name) || data.datasets[0] ||
    { name: '', domains: [], rows: [], constants: [], doubts: [], chosen: null };
}

class Page {
  constructor(source, extra) {
    this.source = source;
    this.views = [...extra, ...views];
    this.state = {};
    this.sections = new Map();
  }

  get context() {
    const page = this;
    return {
      document: this.data,
      dataset: chosenDataset(this.data, this.state.dataset),
      source: this.source,
      state: this.state,
      change: values => page.change(values),
      reload: () => page.load(),
    };
  }

  async load() {
    const data = await this.source.load();
    if (data.schema !== 'grm.report') throw new Error('This is not a document of a report.');
    if (data.version > VERSION) throw new Error('The document is of version ' + data.version + '; this page reads ' + VERSION + '.');
    this.data = data;
    assignLooks(rowNames(data));
    this.build();
  }

  build() {
    document.title = this.data.title;
    this.drawHead();
    const main = clear(document.getElementById('main'));
    const bar = clear(document.getElementById('bar'));
    const links = el('ul');
    bar.append(links);
    this.sections.clear();
    for (const view of this.views) {
      if (view.has && !view.has(this.context)) continue;
      const body = el('div', { class: 'body' });
      const heading = 'h-' + view.id;
      main.append(
        el('section', { id: view.id, 'aria-labelledby': heading, class: view.id + '-section' },
          el('h2', { id: heading }, view.title), view.lead ? el('p', { class: 'lead' }, view.lead) : null, body),
      );
      links.append(el('li', {}, el('a', { href: '#' + view.id }, view.short || view.title)));
      this.sections.set(view, body);
    }
    this.watchScroll(links);
    this.drawAll();
  }

  drawHead() {
    const names = this.data.datasets.map(dataset => dataset.name);
    const head = clear(document.getElementById('head'));
    head.append(
      el('div', { class: 'title' }, el('h1', {}, this.data.title), this.data.about ? el('p', {}, this.data.about) : null),
      el('div', { class: 'tools' },
        names.length > 1
          ? choice('Dataset', names, this.context.dataset.name, name => this.change({ dataset: name, row: undefined, other: undefined, domain: undefined, cell: undefined, item: undefined, label: undefined }))
          : null,
        segmented('Colours', ['auto', 'light', 'dark'], theme, value => {
          setTheme(value);
          stored('grm-theme', value);
          this.drawHead();
          this.drawAll();
        })),
    );
  }

  // The link of the section that is being read.
  watchScroll(links) {
    if (this.observer) this.observer.disconnect();
    this.observer = new IntersectionObserver(
      entries => {
        for (const entry of entries) {
          const link = links.querySelector('a[href="#' + entry.target.id + '"]');
          if (entry.isIntersecting) link?.setAttribute('aria-current', 'true');
          else link?.removeAttribute('aria-current');
        }
      },
      { rootMargin: '-20% 0px -70% 0px' },
    );
    for (const section of document.querySelectorAll('main > section')) this.observer.observe(section);
  }

  drawView(view) {
    const body = this.sections.get(view);
    const held = body.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    hideTip();
    try {
      const height = body.offsetHeight;
      body.style.minHeight = height + 'px'; // so that the page does not jump
      clear(body);
      view.draw(body, this.context);
      body.style.minHeight = '';
    } catch (error) {
      body.append(el('p', { class: 'warning' }, 'This part could not be drawn: ' + error.message));
      console.error(error);
    }
    if (!held) return;
    for (const node of body.querySelectorAll('[data-focus]')) {
      if (node.dataset.focus === held) {
        node.focus({ preventScroll: true });
        break;
      }
    }
  }

  // The first screen at once, the rest a view at a time.
  drawAll() {
    const list = [...this.sections.keys()];
    const round = (this.round = (this.round || 0) + 1);
    delete document.documentElement.dataset.ready;
    const next = k => {
      if (round !== this.round) return;
      if (k === list.length) {
        document.documentElement.dataset.ready = 'true';
        return;
      }
      this.drawView(list[k]);
      setTimeout(() => next(k + 1), 0);
    };
    next(0);
  }

  change(values) {
    Object.assign(this.state, values);
    if ('dataset' in values) {
      this.build();
      return;
    }
    for (const view of this.sections.keys()) {
      if (!view.uses || view.uses.some(key => key in values)) this.drawView(view);
    }
  }
}

export async function startPage(source, extra) {
  setTheme(stored('grm-theme') || 'auto');
  const page = new Page(source, extra);
  try {
    await page.load();
  } catch (error) {
    document.getElementById('main').append(el('p', { class: 'warning' }, 'The page cannot be shown: ' + error.message));
    console.error(error);
    return page;
  }
  let width = innerWidth;
  let waiting = 0;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => page.drawAll(), 150);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    setTheme(theme);
    page.drawAll();
  });
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(part => (part.open = true)));
  addEventListener('keydown', event => event.key === 'Escape' && hideTip());
  source.watch(event => {
    if (event.type === 'changed') page.load().catch(error => console.error(error));
  });
  return page;
}
