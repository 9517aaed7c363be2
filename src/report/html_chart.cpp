// Figures as inline SVG. Colours, fonts and dashes come from the style sheet, so that a figure
// follows the reader's scheme; every mark has a title that browsers show on hovering.
#include <algorithm>
#include <cmath>

#include "core/lists.h"
#include "report/html.h"
#include "report/html_axis.h"
#include "report/html_style.h"

namespace grm::report {
namespace {

constexpr double kWidth = 480, kHeight = 300;
constexpr double kLeft = 62, kRight = 14, kTop = 26, kBottom = 46;
constexpr size_t kMostPoints = 240;  // of a line; more cannot be told apart at this width
constexpr size_t kLabelLength = 12;  // characters of a category below the axis

std::string style_of(size_t series) {
  return fmt::format("s{}", series % kSeriesStyles);
}

bool usable(const Point& p) {
  return std::isfinite(p.x) && std::isfinite(p.mean) && std::isfinite(p.deviation);
}

// Stretches of many points keep their lowest and highest one: spikes stay visible.
std::vector<Point> thinned(const Series& series) {
  std::vector<Point> points;
  std::copy_if(series.points.begin(), series.points.end(), std::back_inserter(points), usable);
  if (points.size() <= kMostPoints) return points;
  std::vector<Point> kept = {points.front()};
  const size_t stretches = kMostPoints / 2 - 1, inner = points.size() - 2;
  for (size_t s = 0; s < stretches; ++s) {
    const auto begin = points.begin() + 1 + static_cast<int64_t>(s * inner / stretches);
    const auto end = points.begin() + 1 + static_cast<int64_t>((s + 1) * inner / stretches);
    if (begin == end) continue;
    auto [low, high] = std::minmax_element(
        begin, end, [](const Point& a, const Point& b) { return a.mean < b.mean; });
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  kept.push_back(points.back());
  return kept;
}

struct Extent {
  double low = 1e300, high = -1e300;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, html_escape(text));
}

std::string line_at(const char* style, double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
      y1, x2, y2);
}

std::string y_axis(const Axis& y, const std::string& label) {
  std::string out;
  for (const double tick : y.ticks(7)) {
    out += line_at("grid", kLeft, y.at(tick), kWidth - kRight, y.at(tick));
    out += text_at(kLeft - 6, y.at(tick) + 4, "end", tick_text(tick));
  }
  out += line_at("axis", kLeft, y.from, kLeft, y.to);
  return out + text_at(2, 14, "start", label);
}

// A symbol of about nine units around a point, another one for each series.
std::string symbol(size_t series, double x, double y) {
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) points += fmt::format("{:.1f},{:.1f} ", x + dx, y + dy);
    points.pop_back();
    return fmt::format("<polygon class=\"dot\" points=\"{}\"/>", points);
  };
  switch (series % 5) {
    case 0:
      return fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.2\"/>", x, y);
    case 1:
      return polygon({{-4, -4}, {4, -4}, {4, 4}, {-4, 4}});
    case 2:
      return polygon({{0, -5}, {4.8, 4}, {-4.8, 4}});
    case 3:
      return polygon({{0, -5.5}, {5.5, 0}, {0, 5.5}, {-5.5, 0}});
    default:
      return polygon({{0, 5}, {4.8, -4}, {-4.8, -4}});
  }
}

std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string point_text(const Point& p) {
  return p.runs > 1 ? fmt::format("{} ± {:.2g}", number_text(p.mean), p.deviation)
                    : number_text(p.mean);
}

std::string line_series(size_t k, const Series& series, const Axis& x, const Axis& y) {
  const std::vector<Point> points = thinned(series);
  if (points.empty()) return "";
  std::string path, upper, lower;
  bool band = false;
  for (const Point& p : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : "L", x.at(p.x), y.at(p.mean));
    band = band || p.runs > 1;
  }
  std::string out =
      fmt::format("<g class=\"{}\"><title>{}: {} at {}, then {} at {}</title>\n", style_of(k),
                  html_escape(series.name), point_text(points.front()), tick_text(points.front().x),
                  point_text(points.back()), tick_text(points.back().x));
  if (points.size() == 1)
    return out + symbol(k, x.at(points[0].x), y.at(points[0].mean)) + "</g>\n";
  if (band) {
    for (const Point& p : points) {
      upper += fmt::format("{:.1f},{:.1f} ", x.at(p.x), y.at(p.mean + p.deviation));
    }
    for (auto p = points.rbegin(); p != points.rend(); ++p) {
      lower += fmt::format("{:.1f},{:.1f} ", x.at(p->x), y.at(p->mean - p->deviation));
    }
    lower.pop_back();
    out += fmt::format("<polygon class=\"band\" points=\"{}{}\"/>\n", upper, lower);
  }
  return out + fmt::format("<path class=\"line\" d=\"{}\"/></g>\n", path);
}

std::string line_chart(const Figure& figure) {
  Extent xs, ys;
  for (const Series& series : figure.series) {
    for (const Point& p : series.points) {
      if (!usable(p)) continue;
      xs.add(p.x);
      ys.add(p.mean);
      const double low = p.mean - p.deviation;
      if (!figure.logarithmic || low > 0) ys.add(low);
      ys.add(p.mean + p.deviation);
    }
  }
  if (xs.high < xs.low) return "";
  Axis x = make_axis(xs.low, xs.high, false, 0.0);
  Axis y = make_axis(ys.low, ys.high, figure.logarithmic && ys.low > 0, 0.04);
  x.from = kLeft;
  x.to = kWidth - kRight;
  y.from = kHeight - kBottom;
  y.to = kTop;
  std::string out = y_axis(y, figure.y_label + (y.logarithmic ? " (logarithmic scale)" : ""));
  for (const double tick : x.ticks(6)) {
    out += line_at("axis", x.at(tick), y.from, x.at(tick), y.from + 4);
    out += text_at(x.at(tick), y.from + 19, "middle", tick_text(tick));
  }
  out += line_at("axis", kLeft, y.from, kWidth - kRight, y.from);
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 5, "middle", figure.x_label);
  for (size_t k = 0; k < figure.series.size(); ++k) out += line_series(k, figure.series[k], x, y);
  return fmt::format("viewBox=\"0 0 {} {}\">\n", kWidth, kHeight) + out;
}

std::string category_chart(const Figure& figure) {
  Extent ys;
  for (const Series& series : figure.series) {
    for (const Point& p : series.points) {
      if (!usable(p)) continue;
      ys.add(p.mean - p.deviation);
      ys.add(p.mean + p.deviation);
    }
  }
  if (ys.high < ys.low) return "";
  const size_t count = figure.categories.size();
  size_t longest = 0;
  for (const std::string& name : figure.categories) {
    longest = std::max(longest, std::min(name.size(), kLabelLength));
  }
  // At the size of letters that a phone shows, about nine units each.
  const bool slanted = 9 * (longest + 1) * count > 400;
  const double extra = slanted ? 5.5 * static_cast<double>(longest) : -18.0;
  Axis y = make_axis(ys.low, ys.high, false, 0.06);
  y.from = kHeight - kBottom;
  y.to = kTop;
  const double slot = (kWidth - kLeft - kRight) / static_cast<double>(count);
  std::string out =
      y_axis(y, figure.y_label) + line_at("axis", kLeft, y.from, kWidth - kRight, y.from);
  for (size_t c = 0; c < count; ++c) {
    const double x = kLeft + slot * (static_cast<double>(c) + 0.5);
    if (c > 0) out += line_at("grid", x - slot / 2, y.from, x - slot / 2, y.to);
    out += slanted
               ? text_at(x, y.from + 16, "end", shortened(figure.categories[c], kLabelLength),
                         fmt::format(" transform=\"rotate(-40 {:.1f} {:.1f})\"", x, y.from + 16))
               : text_at(x, y.from + 19, "middle", shortened(figure.categories[c], kLabelLength));
  }
  const double series_count = static_cast<double>(figure.series.size());
  for (size_t k = 0; k < figure.series.size(); ++k) {
    out += fmt::format("<g class=\"{}\">\n", style_of(k));
    for (const Point& p : figure.series[k].points) {
      if (!usable(p) || p.x < 0 || p.x >= static_cast<double>(count)) continue;
      const double share = (static_cast<double>(k) + 0.5) / series_count;
      const double x = kLeft + slot * (p.x + 0.12 + 0.76 * share);
      out += fmt::format("<g><title>{}, {}: {}</title>", html_escape(figure.series[k].name),
                         html_escape(figure.categories[static_cast<size_t>(p.x)]), point_text(p));
      if (p.runs > 1) {
        out += line_at("bar", x, y.at(p.mean - p.deviation), x, y.at(p.mean + p.deviation));
      }
      out += symbol(k, x, y.at(p.mean)) + "</g>\n";
    }
    out += "</g>\n";
  }
  return fmt::format("viewBox=\"0 0 {} {:.0f}\">\n", kWidth, kHeight + extra) + out;
}

std::string legend(const Figure& figure) {
  std::string out = "<ul class=\"legend\">\n";
  for (size_t k = 0; k < figure.series.size(); ++k) {
    const std::string key =
        figure.categories.empty() ? "<path class=\"line\" d=\"M1,6L29,6\"/>" : symbol(k, 15, 6);
    out += fmt::format(
        "<li><svg viewBox=\"0 0 30 12\" aria-hidden=\"true\"><g class=\"{}\">{}</g></svg>{}</li>\n",
        style_of(k), key, html_escape(figure.series[k].name));
  }
  return out + "</ul>\n";
}

// The numbers behind a picture, for those who do not see it.
Table numbers(const Figure& figure) {
  Table layout;
  if (!figure.categories.empty()) {
    layout.head = {""};
    for (const std::string& name : figure.categories) layout.rows.push_back({{name}});
    for (const Series& series : figure.series) {
      layout.head.push_back(series.name);
      for (auto& row : layout.rows) row.emplace_back();
      for (const Point& p : series.points) {
        if (usable(p) && p.x >= 0 && p.x < static_cast<double>(layout.rows.size())) {
          layout.rows[static_cast<size_t>(p.x)].back().text = point_text(p);
        }
      }
    }
    return layout;
  }
  layout.head = {"line", "first", "lowest", "at", "highest", "at", "last"};
  for (const Series& series : figure.series) {
    const std::vector<Point> points = thinned(series);
    if (points.empty()) continue;
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(),
                            [](const Point& a, const Point& b) { return a.mean < b.mean; });
    layout.rows.push_back({{series.name},
                           {point_text(points.front())},
                           {point_text(*low)},
                           {tick_text(low->x)},
                           {point_text(*high)},
                           {tick_text(high->x)},
                           {point_text(points.back())}});
  }
  return layout;
}

}  // namespace

std::string html_chart(const Figure& figure) {
  const std::string drawing =
      figure.categories.empty() ? line_chart(figure) : category_chart(figure);
  std::string out = "<figure>\n<figcaption>" + html_escape(figure.title);
  for (const std::string& note : figure.notes) {
    out += "<span class=\"sub\">" + html_escape(note) + "</span>";
  }
  out += "</figcaption>\n";
  if (drawing.empty()) return out + html_paragraph("There are no numbers to draw.") + "</figure>\n";
  const std::string names =
      joined(figure.series, ", ", [](const Series& series) { return series.name; });
  out += fmt::format(
             "<svg class=\"chart\" role=\"img\" aria-label=\"{}\" ",
             html_escape(fmt::format("{}: {}. The numbers follow below.", figure.title, names))) +
         drawing + "</svg>\n" + legend(figure);
  return out + html_details("Numbers", html_table(numbers(figure))) + "</figure>\n";
}

}  // namespace grm::report
