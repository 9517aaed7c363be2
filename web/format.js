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

// "81.2 ± 0.5", without the deviation for one run.
export function scoreText(score, runs) {
  if (!score) return '–';
  return percent(score.mean) + (runs > 1 ? ' ± ' + percent(score.std) : '');
}

export function short(value) {
  if (!isNumber(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
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
