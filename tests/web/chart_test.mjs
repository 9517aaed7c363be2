// Axes of charts: node --test tests/web/chart_test.mjs. Expected ticks are worked out by hand.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

// chart.js hands its functions to browsers; those without a page are taken out of its text.
const text = readFileSync(new URL('../../web/chart.js', import.meta.url), 'utf8').replace(/^import .*$/gm, '').replace(/^export /gm, '');
const { ticks, logTicks, extent, linePath, valueAt } = new Function(
  'const isNumber = v => typeof v === "number" && Number.isFinite(v);' + text + '; return { ticks, logTicks, extent, linePath, valueAt };')();

test('ticks are round numbers inside of the range', () => {
  for (const [low, high] of [[0, 1], [-3, 97], [0.001, 0.0042], [12345, 12346], [-1e9, 1e9]]) {
    const list = ticks(low, high, 5);
    assert.ok(list.length >= 2 && list.length <= 12, String(list));
    const step = list[1] - list[0];
    const leading = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
    assert.ok([1, 2, 2.5, 5, 10].some(one => Math.abs(leading - one) < 1e-6), String(list));
    for (const tick of list) assert.ok(tick >= low - step * 1e-6 && tick <= high + step * 1e-6, String(list));
  }
});

test('logarithmic ticks are powers of ten', () => {
  assert.deepEqual(logTicks(0.01, 100).map(v => Math.round(Math.log10(v))), [-2, -1, 0, 1, 2]);
  assert.deepEqual(logTicks(2, 3), [2, 3]);
});

test('an extent is never empty', () => {
  assert.deepEqual(extent([]), [0, 1]);
  assert.deepEqual(extent([NaN, null]), [0, 1]);
  assert.deepEqual(extent([0]), [-0.5, 0.5]);
  assert.deepEqual(extent([0, 10], 0.1), [-1, 11]);
  const [low, high] = extent([7, 7]);
  assert.ok(low < 7 && high > 7);
});

test('paths and values', () => {
  assert.equal(linePath([[0, 1], [2, 3]], x => 10 * x, y => y), 'M0.0,1.0L20.0,3.0');
  const line = { epoch: [1, 5], mean: [2, 4], std: [0.5, 0] };
  assert.deepEqual(valueAt(line, 5), { mean: 4, std: 0 });
  assert.equal(valueAt(line, 3), null);
});
