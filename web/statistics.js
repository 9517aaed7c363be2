// Paired differences between two rows, and quantiles of Student's t.
import { isNumber } from './format.js';

// 97.5 % quantiles of t by degrees of freedom (NIST/SEMATECH e-Handbook, table 1.3.6.7.2).
const T975 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093,
  2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042];

export function t975(freedom) {
  if (freedom < 1) return NaN;
  return freedom <= 30 ? T975[freedom] : 1.96 + 2.4 / freedom;
}

export function meanInterval(values) {
  const known = values.filter(isNumber);
  const n = known.length;
  if (!n) return null;
  const mean = known.reduce((a, b) => a + b, 0) / n;
  if (n < 2) return { n, mean, std: 0, low: null, high: null };
  const std = Math.sqrt(known.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1));
  const half = (t975(n - 1) * std) / Math.sqrt(n);
  return { n, mean, std, low: mean - half, high: mean + half };
}

// Differences a - b of the runs that share seed and draw of the data; `pick(run)` is the number.
export function pairedDifference(a, b, pick) {
  const key = run => run.seed + '\n' + run.data;
  const others = new Map(b.each.map(run => [key(run), run]));
  return meanInterval(a.each.filter(run => others.has(key(run))).map(run => {
    const first = pick(run), second = pick(others.get(key(run)));
    return isNumber(first) && isNumber(second) ? first - second : null;
  }));
}

// 95 % interval of the mean from mean, deviation and number of runs.
export function intervalOf(score, runs) {
  if (!score || runs < 2) return null;
  const half = (t975(runs - 1) * score.std) / Math.sqrt(runs);
  return { low: score.mean - half, high: score.mean + half };
}
