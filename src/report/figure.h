#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grm::report {

struct Point {
  double x = 0.0;  // of a bar: the position of its category
  double mean = 0.0;
  double deviation = 0.0;
  int64_t runs = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;
};

/// Lines with error bands over a number, or grouped bars with error bars over categories.
struct Figure {
  std::string name;  // of its files, without folder and ending
  std::string title, x_label, y_label;
  std::vector<std::string> categories;  // not empty: grouped bars
  bool logarithmic = false;             // the y axis
  bool points = true;                   // a symbol at every point of a line
  std::vector<Series> series;
  std::vector<std::string> notes;  // at the head of the data file
};

/// Plain columns, one block per series: x, mean, deviation, low, high, runs.
std::string figure_data(const Figure& figure);
/// The gnuplot script that draws NAME.svg and NAME.pdf from NAME.dat.
std::string figure_script(const Figure& figure);

struct FigureFiles {
  std::vector<std::string> written;
  std::string message;  // why there is no picture and how to get it; "" if there is one
};

/// Writes NAME.dat and NAME.gp into the folder and, if gnuplot is in PATH, NAME.svg and NAME.pdf.
FigureFiles write_figure(const Figure& figure, const std::string& folder);

/// A file name made of this text: letters, digits, dot, minus.
std::string file_stem(const std::string& text);

}  // namespace grm::report
