// A report as Markdown, LaTeX, text and JSON, and its files.

#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "report/reproduce.h"

namespace grm::report {
namespace {

using nlohmann::ordered_json;

std::string heading(const std::string& text, Format format, int level) {
  if (format == Format::markdown)
    return std::string(static_cast<size_t>(level), '#') + " " + text + "\n\n";
  if (format == Format::latex) return "% " + text + "\n";
  return text + "\n";
}

// Plain facts below the tables; comments in LaTeX.
std::string bullet(const std::string& text, Format format) {
  const std::string start = format == Format::latex      ? "%   "
                            : format == Format::markdown ? "* "
                                                         : "  ";
  return start + (format == Format::markdown ? escape_markdown(text) : text) + "\n";
}

std::string provenance_text(const Report& report, Format format) {
  std::string out = heading("Made with", format, 2);
  if (!report.command.empty()) {
    out += format == Format::markdown ? "* command: `" + report.command + "`\n"
                                      : bullet("command: " + report.command, format);
  }
  for (const auto& [key, values] : report.provenance.versions) {
    out += bullet(key + ": " + joined(values), format);
  }
  for (const auto& [dataset, files] : report.provenance.data) {
    for (const auto& [file, hash] : files) {
      out += bullet(fmt::format("data of {}: {} sha256 {}", dataset, file, hash), format);
    }
  }
  return out;
}

std::string tables_text(const std::vector<Table>& layouts, Format format) {
  std::string out;
  for (const Table& layout : layouts) {
    if (!layout.rows.empty()) out += render(layout, format) + "\n";
  }
  return out;
}

}  // namespace

std::string render(const Report& report, Format format) {
  std::string out = heading(report.target + ": " + report.about, format, 1);
  if (report.layouts.empty() || report.table.blocks.empty()) {
    out += heading("No run has a result yet.", format, 3);
  }
  out += tables_text(report.layouts, format);
  if (format == Format::markdown) {
    for (const Figure& figure : report.figures) {
      const std::string stem = file_stem(figure.name);
      out += fmt::format("![{}]({}.svg)\n\n", escape_markdown(figure.title), stem);
    }
  }
  if (!report.notes.empty()) {
    out += heading("Notes on the published numbers and the data", format, 2);
    for (const std::string& note : report.notes) out += bullet(note, format);
    out += "\n";
  }
  if (!report.missing.rows.empty()) {
    out += tables_text({report.missing}, format);
  } else {
    out += heading("Missing: nothing.", format, 3);
  }
  return out + provenance_text(report, format);
}

std::string report_json(const Report& report) {
  ordered_json figures = ordered_json::array();
  for (const Figure& figure : report.figures) {
    ordered_json series = ordered_json::array();
    for (const Series& s : figure.series) {
      ordered_json points = ordered_json::array();
      for (const Point& p : s.points) {
        points.push_back({{"x", p.x}, {"mean", p.mean}, {"std", p.deviation}, {"runs", p.runs}});
      }
      series.push_back({{"name", s.name}, {"points", points}});
    }
    figures.push_back(
        {{"name", figure.name}, {"categories", figure.categories}, {"series", series}});
  }
  const ordered_json out = {
      {"target", report.target},
      {"about", report.about},
      {"command", report.command},
      {"table", parse_json<ordered_json>(study::table_json(report.table), "the table")},
      {"figures", figures},
      {"notes", report.notes},
      {"versions", report.provenance.versions},
      {"data_hashes", report.provenance.data},
      {"missing_files", report.provenance.missing_files}};
  return json_text(out, 2) + "\n";
}

ReportFiles write_report(const Report& report, const Results& results,
                         const study::TableOptions& options, const std::string& folder) {
  ReportFiles files;
  const auto write = [&](const std::string& name, const std::string& content) {
    write_file_atomic(folder + "/" + name, content);
    files.written.push_back(folder + "/" + name);
  };
  std::vector<study::ResultRow> rows;
  for (const study::ResultRow& row : results.rows) {
    if (study::selected(options, row.dataset, row.method, row.variant)) rows.push_back(row);
  }
  write(report.stem + ".md", render(report, Format::markdown));
  write(report.stem + ".tex", render(report, Format::latex));
  write(report.stem + ".json", report_json(report));
  write(report.stem + ".csv", study::scores_csv(rows, options.rule));
  write(report.stem + "-summary.csv", study::summary_csv(report.table));
  for (const Figure& figure : report.figures) {
    const FigureFiles drawn = write_figure(figure, folder);
    files.written.insert(files.written.end(), drawn.written.begin(), drawn.written.end());
    if (!drawn.message.empty()) files.messages.push_back(drawn.message);
  }
  return files;
}

}  // namespace grm::report
