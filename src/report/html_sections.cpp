// The sections of a report behind the scores: curves, shift, explanations, how to repeat it.
#include "report/html_sections.h"

#include <algorithm>
#include <set>

#include "train/recorded_config.h"

namespace grm::report {
namespace {

constexpr size_t kOpenParts = 2;  // more of them are folded up but for the first
constexpr size_t kOpenCommands = 12;

struct Part {
  std::string title, body;
};

std::string parts_text(const std::vector<Part>& parts) {
  std::string out;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (parts.size() > kOpenParts) {
      out += html_details(parts[k].title, parts[k].body, k == 0);
    } else {
      out += "<h3>" + html_escape(parts[k].title) + "</h3>\n" + parts[k].body;
    }
  }
  return out;
}

// A single evaluation is a number, not a curve; the summary has it.
bool has_line(const Figure& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [](const Series& series) { return series.points.size() > 1; });
}

bool knows_truth(const HtmlReport& report) {
  for (const GalleryPart& part : report.gallery) {
    for (const GraphPicture& picture : part.pictures) {
      for (const GraphPicture::Edge& edge : picture.sides.front().edges) {
        if (edge.kind == GraphPicture::Kind::truth) return true;
      }
    }
  }
  return false;
}

Table versions_layout(const Provenance& provenance) {
  Table layout;
  layout.title = "Made with";
  layout.label_columns = 2;
  layout.head = {"what", "version"};
  for (const auto& [key, values] : provenance.versions) {
    layout.rows.push_back({key, joined(values)});
  }
  return layout;
}

Table hashes_layout(const Provenance& provenance) {
  Table layout;
  layout.title = "Data files";
  layout.label_columns = 3;
  layout.head = {"dataset", "file", "SHA-256"};
  for (const auto& [dataset, files] : provenance.data) {
    for (const auto& [file, hash] : files) layout.rows.push_back({{dataset}, {file}, {hash}});
  }
  return layout;
}

}  // namespace

std::string curves_section(const HtmlReport& report) {
  std::vector<Part> parts;
  for (const CurvePart& part : report.curves) {
    std::string figures;
    for (const Figure& figure : part.figures) {
      if (has_line(figure)) figures += html_chart(figure);
    }
    if (!figures.empty()) {
      parts.push_back({part.title, "<div class=\"figures\">\n" + figures + "</div>\n"});
    }
  }
  return parts_text(parts);
}

std::string shift_section(const HtmlReport& report) {
  std::vector<Part> parts;
  for (const ShiftPart& part : report.shift) {
    std::string body = html_list(part.words);
    for (const Table& layout : part.tables) body += html_table(layout);
    if (!part.domains.empty()) {
      body += html_details("Verdicts by domain, in words", html_list(part.domains));
    }
    parts.push_back({part.title, body});
  }
  return parts_text(parts);
}

std::string gallery_section(const HtmlReport& report) {
  if (report.gallery.empty()) return "";
  std::vector<Part> parts;
  for (const GalleryPart& part : report.gallery) {
    std::string body = html_list(part.words) + "<div class=\"figures\">\n";
    for (const GraphPicture& picture : part.pictures) body += html_graph(picture);
    parts.push_back({part.title, body + "</div>\n"});
  }
  std::string legend = "<ul class=\"legend\">\n";
  const std::pair<const char*, const char*> kinds[] = {{"plain", "observed edge"},
                                                       {"truth", "known to make the label"},
                                                       {"kept", "observed, kept"},
                                                       {"weakened", "observed, weakened"},
                                                       {"added", "new"}};
  for (const auto& [style, name] : kinds) {
    if (style == std::string("truth") && !knows_truth(report)) continue;
    legend += fmt::format(
        "<li><svg viewBox=\"0 0 30 12\" aria-hidden=\"true\"><line class=\"{}\" x1=\"1\" y1=\"6\" "
        "x2=\"29\" y2=\"6\" stroke-width=\"2.5\"/></svg>{}</li>\n",
        style, name);
  }
  return html_paragraph(
             "What a prediction rests on: the observed graph around an item, and the same nodes "
             "with the edges as the method weighs them. Width is the weight, on one scale from 0 "
             "to "
             "1 for all items (scores of methods that generate no graph: from the item's smallest "
             "to its largest), and the light band around a line its spread over the samples. Kept "
             "edges are at or above the mean weight, weakened ones below; a faint line is closer "
             "to the mean than twice its spread, so the side it is on may be chance. The more "
             "purple a node of the generated graph, the farther its z from h. A low agreement over "
             "seeds means that single edges should not be read.") +
         legend + "</ul>\n" + parts_text(parts);
}

std::string repeat_section(const HtmlReport& report) {
  std::string out;
  const std::vector<Setup> setups = setups_of(report.results.rows);
  if (!report.spec.empty()) {
    out += html_paragraph("The study as a whole, from its specification:");
    for (const std::string& command : report.repeat) out += html_code(command);
    out += html_details("Specification", html_code(report.spec));
  }
  if (!setups.empty()) {
    std::string commands, configs;
    std::set<std::string> places;
    for (const Setup& setup : setups) {
      for (const std::string& command : train_commands(setup)) commands += command + "\n";
      configs += html_details(setup.method + " on " + setup.dataset +
                                  (setup.variant.empty() ? "" : ", " + setup.variant),
                              html_code(setup.config));
      const std::string name = config_head(setup.rows.front()->config, "configuration").dataset;
      for (const DatasetEntry& entry : datasets()) {
        if (entry.name == name && !entry.published_at.empty()) {
          places.insert(entry.name + ": " + entry.published_at);
        }
      }
    }
    const std::string code = html_code(commands.substr(0, commands.size() - 1));
    const std::string lead = "The same program, files, seeds and threads give the same bits:";
    out += setups.size() > kOpenCommands ? html_details("Commands, run by run", code)
                                         : html_paragraph(lead) + code;
    out += html_details("Configurations in full", configs);
    if (!places.empty()) {
      out +=
          html_paragraph("Where the files come from ($GRM_DATA or --data-root names the folder):");
      out += html_list({places.begin(), places.end()});
    }
  }
  const Provenance provenance = provenance_of(report.results.rows);
  if (!provenance.versions.empty()) out += html_table(versions_layout(provenance));
  if (!provenance.data.empty()) out += html_table(hashes_layout(provenance));
  if (!report.command.empty()) {
    out += html_paragraph("This page was made by:") + html_code(report.command);
  }
  return out;
}

}  // namespace grm::report
