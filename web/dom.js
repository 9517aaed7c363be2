// Elements. Text is always text: nothing here reads HTML.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

let lastId = 0;
export function freshId(stem) {
  lastId += 1;
  return stem + '-' + lastId;
}

// A file of the page's own making, for the reader to keep.
export function download(name, text, type = 'text/csv') {
  const link = el('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function note(text) {
  return el('p', { class: 'note' }, text);
}

export function folded(summary, ...children) {
  return el('details', {}, el('summary', {}, summary), ...children);
}

export function card(title, ...children) {
  return el('div', { class: 'card' }, title ? el('h3', {}, title) : null, ...children);
}
