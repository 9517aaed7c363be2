// What is shown beside the pointer, or beside what has the focus.
import { el, clear } from './dom.js';

function tipBox() {
  return document.getElementById('tip');
}

// `lines` are texts; the first stands out.
export function showTip(lines, x, y) {
  const box = clear(tipBox());
  lines.forEach((line, k) => box.append(el(k === 0 ? 'strong' : 'span', {}, line)));
  box.hidden = false;
  const room = box.getBoundingClientRect();
  const left = Math.min(x + 14, document.documentElement.clientWidth - room.width - 8);
  const above = y + room.height + 22 > innerHeight;
  box.style.left = Math.max(8, left) + 'px';
  box.style.top = Math.max(8, above ? y - room.height - 12 : y + 16) + 'px';
}

export function hideTip() {
  tipBox().hidden = true;
}

// `lines()` is asked when it is needed.
export function tipped(node, lines) {
  node.addEventListener('pointerenter', event => showTip(lines(), event.clientX, event.clientY));
  node.addEventListener('pointermove', event => showTip(lines(), event.clientX, event.clientY));
  node.addEventListener('pointerleave', hideTip);
  node.addEventListener('focus', () => {
    if (!node.matches(':focus-visible')) return;
    const at = node.getBoundingClientRect();
    showTip(lines(), at.left + at.width / 2, at.bottom - 8);
  });
  node.addEventListener('blur', hideTip);
  return node;
}
