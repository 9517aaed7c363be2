// Numbers as text. Percent has one decimal everywhere.

export function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

export function percent(value) {
  return isNumber(value) ? value.toFixed(1) : '–';
}

export function signed(value, digits = 1) {
  if (!isNumber(value)) return '–';
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? '' : value > 0 ? '+' : '−') + text;
}

export function short(value) {
  if (!isNumber(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

// How the scores of a dataset are written and compared: percent, of which more is better, or the errors of a regression
// in the units of its targets.
export function scaleOf(dataset) {
  const errors = !!dataset.errors;
  const text = errors ? short : percent;
  const difference = value => (errors && isNumber(value) ? (value > 0 ? '+' : value < 0 ? '−' : '') + short(Math.abs(value)) : signed(value));
  const gain = (score, other) => (errors ? other - score : score - other);
  return {
    errors, text, difference, gain,
    unit: errors ? '' : 'points',
    title: dataset.metric_name + (errors ? ', less is better' : ' in percent'),
    score: (score, runs) => (score ? text(score.mean) + (runs > 1 ? ' ± ' + text(score.std) : '') : '–'),
    best: values => (errors ? Math.min(...values) : Math.max(...values)),
    against: errors ? 'against ' : 'over ',
    gained: errors ? 'less error than' : 'points over',
  };
}

export function count(number, word) {
  return number.toLocaleString('en') + ' ' + word + (number === 1 ? '' : 's');
}

export function duration(seconds) {
  if (!isNumber(seconds)) return '–';
  if (seconds < 1) return Math.round(seconds * 1000) + ' ms';
  if (seconds < 100) return Number(seconds.toPrecision(2)) + ' s';
  if (seconds < 6000) return Math.round(seconds / 60) + ' min';
  return (seconds / 3600).toFixed(1) + ' h';
}

export function memory(mib) {
  if (!isNumber(mib)) return '–';
  return mib < 1000 ? Math.round(mib) + ' MiB' : (mib / 1024).toFixed(1) + ' GiB';
}

export function cut(text, length) {
  const letters = Array.from(text);
  return letters.length <= length ? text : letters.slice(0, length - 1).join('') + '…';
}

export function mean(values) {
  return values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : NaN;
}
