#pragma once

#include <string>
#include <vector>

#include "core/table.h"
#include "core/text.h"
#include "report/figure.h"

// The parts that an HTML report is put together from. All of them take plain text and escape it;
// what they return is HTML that needs no script and loads nothing.
namespace grm::report {

/// At most `most` characters; what is cut off is marked by an ellipsis.
std::string shortened(const std::string& text, size_t most);

/// One paragraph, a list of sentences (nothing for none), and text that is copied as it stands.
std::string html_paragraph(const std::string& text);
std::string html_list(const std::vector<std::string>& items);
std::string html_code(const std::string& text);
/// Something that opens on a click: a heading and HTML.
std::string html_details(const std::string& summary, const std::string& body, bool open = false);

struct HtmlSection {
  std::string id;     // of the anchor: lower-case letters and minus
  std::string title;  // plain text
  std::string body;   // HTML
};

/// The whole file: frame, style, contents and sections.
std::string html_page(const std::string& title, const std::string& about,
                      const std::vector<HtmlSection>& sections);

/// A figure as inline SVG with a legend and its numbers: lines with bands, or marks with error
/// bars over categories.
std::string html_chart(const Figure& figure);

/// A small graph in two states over the same places of its nodes.
struct GraphPicture {
  enum class Kind { plain, truth, kept, weakened, added };
  struct Edge {
    int64_t a = 0, b = 0;
    double weight = 1.0;      // 0 to 1: how strong it is drawn
    double value = 1.0;       // the number that is shown
    Kind kind = Kind::plain;  // truth: observed, and known to make the label
    double spread = 0.0;      // of the number, shown with it
    double reach = 0.0;       // 0 to 1: how strong it would be with its spread, drawn as a band
    bool clear = true;        // false: drawn faintly, as it may be chance
  };
  struct Side {
    std::string title;  // "observed"
    std::vector<Edge> edges;
  };
  std::vector<std::string> nodes;  // a short text for each, may be empty
  std::vector<double> shades;      // of the nodes of the last side, 0 to 1; empty for none
  std::vector<std::string> tips;   // what is said of these nodes besides their names; likewise
  int64_t target = -1;             // the node that is explained, if it is one
  std::vector<Side> sides;
  std::string caption;
  std::vector<std::string> facts;  // one line each below the caption
  Table numbers;                   // behind the picture; not shown without rows
};

/// Places of nodes in the unit square: a circle, relaxed by a fixed number of steps in which nodes
/// repel each other and edges pull. The same graph gives the same places.
struct Place {
  double x = 0.0, y = 0.0;
};
std::vector<Place> place_nodes(int64_t nodes, const std::vector<GraphPicture::Edge>& edges);

/// How far to the side the middle of the line a - b goes so that no third node is closer to it than
/// `room`: 0 where the straight line is free, and the best of a few bends where none is.
double bend_of(const std::vector<Place>& places, int64_t a, int64_t b, double room);
/// The point of such a line, from a at t = 0 to b at t = 1.
Place on_line(const Place& a, const Place& b, double bend, double t);

std::string html_graph(const GraphPicture& picture);

}  // namespace grm::report
