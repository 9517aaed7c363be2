"""A critical-difference figure as SVG (used by scripts/comparison.py): methods at their mean ranks, best left; a bar
joins those whose ranks do not differ clearly."""
import html

import rank_statistics

LEFT, WIDTH, LINE, TOP = 170, 460, 18, 74


def text(x, y, words, anchor="start", size=12):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">'
            f"{html.escape(words)}</text>")


def line(x1, y1, x2, y2, width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="black" stroke-width="{width}"/>'


def rank_figure(names, mean, difference, title):
    k = len(names)
    order = sorted(range(k), key=lambda i: (mean[i], names[i]))
    groups = rank_statistics.cliques(mean, difference)

    def place(rank):
        return LEFT + (rank - 1) / (k - 1) * WIDTH

    bars = TOP + 16
    first = bars + 7 * len(groups) + 16
    half = (k + 1) // 2
    height = first + LINE * half + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * LEFT + WIDTH}" height="{height}" '
           f'font-family="sans-serif"><title>{html.escape(title)}</title>',
           '<rect width="100%" height="100%" fill="white"/>', text(LEFT + WIDTH / 2, 18, title, "middle", 14)]
    shown = min(difference, k - 1.0)
    out += [line(LEFT, 40, place(1 + shown), 40, 2),
            text(LEFT, 34, f"critical difference {difference:.2f}" + (", more than all ranks" if difference > k - 1 else ""))]
    out.append(line(LEFT, TOP, LEFT + WIDTH, TOP))
    for rank in range(1, k + 1):
        out += [line(place(rank), TOP - 5, place(rank), TOP), text(place(rank), TOP - 9, str(rank), "middle", 10)]
    for row, group in enumerate(groups):
        y = bars + 7 * row
        out.append(line(place(mean[group[0]]) - 3, y, place(mean[group[-1]]) + 3, y, 4))
    for number, i in enumerate(order):
        left = number < half
        y = first + LINE * (number if left else k - 1 - number)
        edge = LEFT - 8 if left else LEFT + WIDTH + 8
        out += [line(place(mean[i]), TOP, place(mean[i]), y - 4), line(place(mean[i]), y - 4, edge, y - 4)]
        words = f"{names[i]} ({mean[i]:.1f})"
        out.append(text(edge - 4 if left else edge + 4, y, words, "end" if left else "start"))
    return "\n".join(out + ["</svg>"]) + "\n"
