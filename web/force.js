// Places of the nodes of a small graph: nodes repel each other, links pull, all of it is drawn to the middle.
// The same graph has the same places.

const STEPS = 260;

function startPlaces(count, centre) {
  const places = [];
  for (let k = 0; k < count; k += 1) {
    const angle = k * 2.399963, radius = k === centre ? 0 : 0.1 + 0.9 * Math.sqrt((k + 1) / count);
    places.push({ x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0 });
  }
  return places;
}

// links: [a, b, strength 0..1]. Returns places between 0 and 1.
export function forceLayout(count, links, centre = -1) {
  const places = startPlaces(count, centre);
  const ideal = 1.6 / Math.sqrt(count + 1);
  const steps = count > 150 ? 120 : STEPS;
  for (let step = 0; step < steps; step += 1) {
    const heat = 0.12 * (1 - step / steps) + 0.002;
    for (const p of places) {
      p.dx = -0.25 * p.x;
      p.dy = -0.25 * p.y;
    }
    for (let a = 0; a < count; a += 1) {
      for (let b = 0; b < a; b += 1) {
        let x = places[a].x - places[b].x, y = places[a].y - places[b].y;
        const near = Math.max(1e-4, x * x + y * y);
        const push = (ideal * ideal) / near;
        x *= push;
        y *= push;
        places[a].dx += x;
        places[a].dy += y;
        places[b].dx -= x;
        places[b].dy -= y;
      }
    }
    for (const [a, b, strength] of links) {
      const x = places[a].x - places[b].x, y = places[a].y - places[b].y;
      const pull = (Math.hypot(x, y) / ideal) * (0.2 + 0.8 * strength);
      places[a].dx -= x * pull;
      places[a].dy -= y * pull;
      places[b].dx += x * pull;
      places[b].dy += y * pull;
    }
    places.forEach((p, k) => {
      if (k === centre) {
        p.x = 0;
        p.y = 0;
        return;
      }
      const far = Math.hypot(p.dx, p.dy) || 1;
      p.x += (p.dx / far) * Math.min(far, heat);
      p.y += (p.dy / far) * Math.min(far, heat);
    });
  }
  const reach = axis => {
    const low = Math.min(...places.map(p => p[axis])), high = Math.max(...places.map(p => p[axis]));
    return { low, span: high - low || 1, flat: high === low };
  };
  const across = reach('x'), down = reach('y');
  return places.map(p => ({
    x: across.flat ? 0.5 : (p.x - across.low) / across.span,
    y: down.flat ? 0.5 : (p.y - down.low) / down.span,
  }));
}
