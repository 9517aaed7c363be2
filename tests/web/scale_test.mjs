// Scores of a page: percent where more is better, errors where less is.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { scaleOf } from '../../web/format.js';
import { bestConstant } from '../../web/view_answer.js';

test('percent', () => {
  const scale = scaleOf({ metric_name: 'accuracy', errors: false });
  assert.equal(scale.score({ mean: 81.24, std: 0.51 }, 3), '81.2 ± 0.5');
  assert.equal(scale.score({ mean: 81.24, std: 0 }, 1), '81.2');
  assert.equal(scale.difference(-1.26), '−1.3');
  assert.ok(scale.gain(81, 80) > 0);
  assert.equal(scale.best([1, 3, 2]), 3);
  assert.equal(scale.title, 'accuracy in percent');
});

test('errors', () => {
  const scale = scaleOf({ metric_name: 'RMSE', errors: true });
  assert.equal(scale.score({ mean: 0.04321, std: 0.0012 }, 3), '0.0432 ± 0.0012');
  assert.equal(scale.difference(-0.01234), '−0.0123');
  assert.equal(scale.difference(0.5), '+0.5');
  assert.ok(scale.gain(0.2, 0.3) > 0);
  assert.equal(scale.best([1, 3, 2]), 1);
  assert.equal(scale.title, 'RMSE, less is better');
});

test('the constant answer that is hardest to beat', () => {
  const constants = [{ name: 'a', avg: 2 }, { name: 'b', avg: 1 }, { name: 'c', avg: 3 }];
  assert.equal(bestConstant({ constants, errors: false }).name, 'c');
  assert.equal(bestConstant({ constants, errors: true }).name, 'b');
  assert.equal(bestConstant({ constants: [], errors: true }), null);
});
