#include "report/figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "core/files.h"
#include "core/system/process.h"
#include "core/text.h"
#include "grm/core/error.h"

namespace grm::report {
namespace {

namespace fs = std::filesystem;

// Distinct for colour-blind readers (the palette of Okabe and Ito, its yellow darkened so that it
// shows on white); dashes and symbols tell the lines apart in black and white.
constexpr const char* kColours[] = {"#777777", "#E69F00", "#56B4E9", "#8A7A00", "#CC79A7",
                                    "#009E73", "#0072B2", "#D55E00", "#000000"};
constexpr int kSymbols[] = {6, 5, 9, 13, 11, 4, 8, 12, 7};
constexpr size_t kStyles = std::size(kColours);
constexpr double kSeconds = 3600;  // that gnuplot may take

// Text in single quotes, where gnuplot expands nothing; a quote is doubled, a control character
// would end the line.
std::string quoted(const std::string& text) {
  std::string out = replaced(text, {{"'", "''"}});
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return "'" + out + "'";
}

// One line of a comment.
std::string comment(const std::string& text) {
  std::string line = "# " + text;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return line + "\n";
}

// A band on a logarithmic axis must not reach zero.
double low_end(const Figure& figure, const Point& point) {
  const double low = point.mean - point.deviation;
  return figure.logarithmic ? std::max(low, point.mean / 100) : low;
}

bool reaches_below_zero(const Figure& figure) {
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) {
      if (point.mean - point.deviation < 0) return true;
    }
  }
  return false;
}

// The last style, solid black, stands out most. It is the last line's where all styles are taken,
// as in a comparison that ends with GRM, and the first line's elsewhere.
size_t style_of(const Figure& figure, size_t k) {
  const size_t style = k % kStyles;
  return figure.series.size() < kStyles ? kStyles - 1 - style : style;
}

std::string line_plots(const Figure& figure, const std::string& data) {
  std::string out;
  const auto add = [&](const std::string& plot) {
    out += (out.empty() ? "" : ", \\\n     ") + plot;
  };
  for (size_t k = 0; k < figure.series.size(); ++k) {
    add(
        fmt::format("{} index {} using 1:4:5 with filledcurves fillstyle transparent solid 0.13 "
                    "noborder linecolor rgb '{}' notitle",
                    data, k, kColours[style_of(figure, k)]));
  }
  for (size_t k = 0; k < figure.series.size(); ++k) {
    const std::string style = figure.points ? fmt::format("linespoints pointtype {} pointsize 0.6",
                                                          kSymbols[style_of(figure, k)])
                                            : std::string("lines");
    add(
        fmt::format("{} index {} using 1:2 with {} linewidth 2 dashtype {} linecolor rgb '{}' "
                    "title {}",
                    data, k, style, (style_of(figure, k) + 2) % 5 + 1,
                    kColours[style_of(figure, k)], quoted(figure.series[k].name)));
  }
  return out;
}

std::string bar_plots(const Figure& figure, const std::string& data) {
  const double width = 0.8 / static_cast<double>(figure.series.size());
  std::string out;
  const auto add = [&](const std::string& plot) {
    out += (out.empty() ? "" : ", \\\n     ") + plot;
  };
  for (size_t k = 0; k < figure.series.size(); ++k) {
    const double offset =
        (static_cast<double>(k) - 0.5 * static_cast<double>(figure.series.size() - 1)) * width;
    // Where the colours come round again the bars are paler.
    add(fmt::format(
        "{} index {} using ($1+({:.6f})):2:({:.6f}) with boxes fillstyle solid {} "
        "border rgb 'black' linecolor rgb '{}' title {}",
        data, k, offset, 0.92 * width, k < kStyles ? 0.85 : 0.3,
        kColours[(2 * kStyles - 2 - k % kStyles) % kStyles], quoted(figure.series[k].name)));
    // Error bars as double-headed lines: gnuplot's own leave a white gap around the mean.
    add(fmt::format(
        "{} index {} using ($1+({:.6f})):4:(0):($5-$4) with vectors heads size {:.6f},90 "
        "linewidth 1.2 linecolor rgb 'black' notitle",
        data, k, offset, 0.25 * width));
  }
  return out;
}

}  // namespace

std::string file_stem(const std::string& text) {
  std::string out;
  for (const unsigned char c : text) {
    out += std::isalnum(c) || c == '.' || c == '-' ? static_cast<char>(c) : '-';
  }
  // Not a hidden file, and not what programs take for one of their flags.
  return out.empty() || out[0] == '.' || out[0] == '-' ? "figure" + out : out;
}

std::string figure_data(const Figure& figure) {
  std::string out = comment(figure.title);
  for (const std::string& note : figure.notes) out += comment(note);
  if (figure.categories.empty()) {
    out += comment("x: " + figure.x_label + "; mean: " + figure.y_label);
  } else {
    out += comment("mean: " + figure.y_label);
    for (size_t k = 0; k < figure.categories.size(); ++k) {
      out += comment(fmt::format("x = {}: {}", k, figure.categories[k]));
    }
  }
  for (size_t k = 0; k < figure.series.size(); ++k) {
    if (k > 0) out += "\n\n";
    out += comment(fmt::format("block {}: {}", k, figure.series[k].name));
    out += "# x mean deviation low high runs\n";
    for (const Point& p : figure.series[k].points) {
      out += fmt::format("{} {} {} {} {} {}\n", p.x, p.mean, p.deviation, low_end(figure, p),
                         p.mean + p.deviation, p.runs);
    }
    // An empty block would shift the numbers of those behind it.
    if (figure.series[k].points.empty()) out += "NaN NaN NaN NaN NaN 0\n";
  }
  return out;
}

std::string figure_script(const Figure& figure) {
  const std::string stem = file_stem(figure.name);
  std::string out = comment("gnuplot " + stem + ".gp");
  out += "set encoding utf8\n";
  out += "set title " + quoted(figure.title) + " noenhanced\n";
  out += "set xlabel " + quoted(figure.x_label) + " noenhanced\n";
  out += "set ylabel " + quoted(figure.y_label) + " noenhanced\n";
  out += "set key outside right top vertical Left reverse noenhanced\n";
  out += "set border 3 linecolor rgb 'black'\n";
  out += "set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5\n";
  out += "set tics nomirror\n";
  if (figure.logarithmic) out += "set logscale y\nset format y '%g'\n";
  if (!figure.categories.empty()) {
    out += "set xtics (";
    for (size_t k = 0; k < figure.categories.size(); ++k) {
      out += fmt::format("{}{} {}", k > 0 ? ", " : "", quoted(figure.categories[k]), k);
    }
    out += ") noenhanced\n";
    // Bars begin at 0: their lengths are what is compared.
    out += fmt::format(
        "set xrange [-0.5:{}]\n{}", static_cast<double>(figure.categories.size()) - 0.5,
        reaches_below_zero(figure) ? "set xzeroaxis linewidth 1.5\n" : "set yrange [0:*]\n");
  }
  const std::string data = quoted(stem + ".dat");
  const std::string plots =
      figure.categories.empty() ? line_plots(figure, data) : bar_plots(figure, data);
  out += "set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'\n";
  out += "set output " + quoted(stem + ".svg") + "\n";
  out += "plot " + plots + "\n";
  out += "unset output\n";
  out += "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {\n";
  out += "  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'\n";
  out += "  set output " + quoted(stem + ".pdf") + "\n";
  out += "  replot\n  unset output\n}\n";
  return out;
}

FigureFiles write_figure(const Figure& figure, const std::string& folder) {
  ensure(!figure.series.empty(), "a figure without series");
  const std::string stem = file_stem(figure.name);
  const std::string base = folder + "/" + stem;
  FigureFiles files;
  for (const auto& [ending, content] :
       {std::pair<const char*, std::string>{".dat", figure_data(figure)},
        {".gp", figure_script(figure)}}) {
    write_file_atomic(base + ending, content);
    files.written.push_back(base + ending);
  }
  // A picture of older numbers beside new data would mislead.
  std::error_code code;
  for (const char* ending : {".svg", ".pdf"}) fs::remove(base + ending, code);
  const std::string how = fmt::format("then: cd {} && gnuplot {}.gp",
                                      shell_word(folder[0] == '-' ? "./" + folder : folder), stem);
  const std::string gnuplot = find_program("gnuplot");
  if (gnuplot.empty()) {
    files.message = fmt::format("no picture of {}: gnuplot is not in PATH; install gnuplot-nox, {}",
                                figure.name, how);
    return files;
  }
  const std::string trouble = run_program({gnuplot, stem + ".gp"}, kSeconds, folder);
  for (const char* ending : {".svg", ".pdf"}) {
    if (trouble.empty() && fs::exists(base + ending)) files.written.push_back(base + ending);
  }
  if (!trouble.empty()) {
    files.message = fmt::format("no picture of {}: {} failed: {}", figure.name, gnuplot, trouble);
  } else if (!fs::exists(base + ".pdf")) {
    files.message = fmt::format(
        "no PDF of {}: this gnuplot has no pdfcairo terminal; install "
        "gnuplot-nox, {}",
        figure.name, how);
  }
  return files;
}

}  // namespace grm::report
