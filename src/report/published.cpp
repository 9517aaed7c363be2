#include "report/published.h"

#include <algorithm>
#include <set>

#include "core/lists.h"
#include "core/toml_library.h"
#include "grm/core/error.h"
#include "grm/data/own_data.h"
#include "study/embedded.h"
#include "train/recorded_config.h"

namespace grm::report {
namespace {

// Reads what must be there, and says where it is not.
class Reader {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}

  [[noreturn]] void wrong(const toml::node& node, const std::string& expected) const {
    fail(ErrorKind::config, "{}:{}: {} expected", origin_, node.source().begin.line, expected);
  }

  std::string text(const toml::table& table, const char* key) const {
    const auto value = table[key].value<std::string>();
    if (!value) wrong(table, fmt::format("text '{}'", key));
    return *value;
  }

  double number(const toml::node& node) const {
    const auto value = node.value<double>();
    if (!value) wrong(node, "a number");
    return *value;
  }

  const toml::array& array(const toml::table& table, const char* key) const {
    const toml::array* values = table[key].as_array();
    if (!values) wrong(table, fmt::format("array '{}'", key));
    return *values;
  }

  const toml::table& entry(const toml::node& node) const {
    const toml::table* table = node.as_table();
    if (!table) wrong(node, "a table");
    return *table;
  }

  // A number, or [mean, deviation].
  PublishedValue value(const toml::node& node) const {
    const toml::array* pair = node.as_array();
    if (!pair) return {number(node), {}};
    if (pair->size() != 2) wrong(node, "a number or [mean, deviation]");
    return {number(*pair->get(0)), number(*pair->get(1))};
  }

  PublishedTable::Part part(const toml::table& source) const {
    PublishedTable::Part part;
    part.dataset = text(source, "name");
    part.metric = text(source, "metric");
    for (const toml::node& column : array(source, "columns")) {
      part.columns.push_back(column.value_or(std::string()));
    }
    const toml::table* methods = source["methods"].as_table();
    if (!methods) wrong(source, "[table.dataset.methods]");
    // toml++ sorts keys; the printed order is that of the lines.
    std::vector<std::pair<toml::source_index, std::string>> lines;
    for (const auto& [key, node] : *methods) {
      const toml::array* values = node.as_array();
      if (!values || values->size() != part.columns.size()) {
        wrong(node, fmt::format("one value for each of {} columns", part.columns.size()));
      }
      const std::string name(key.str());
      for (const toml::node& v : *values) part.values[name].push_back(value(v));
      lines.emplace_back(node.source().begin.line, name);
    }
    std::sort(lines.begin(), lines.end());
    for (const auto& [line, name] : lines) part.methods.push_back(name);
    return part;
  }

  PublishedTable table(const toml::table& source) const {
    PublishedTable table;
    table.id = text(source, "id");
    table.label = text(source, "label");
    table.caption = text(source, "caption");
    table.number = source["number"].value_or(int64_t{0});
    for (const toml::node& node : array(source, "dataset")) {
      table.parts.push_back(part(entry(node)));
    }
    return table;
  }

  PublishedNote note(const toml::table& source) const {
    return {text(source, "table"),
            text(source, "dataset"),
            text(source, "method"),
            text(source, "column"),
            text(source, "text"),
            source["printed"].value<double>(),
            source["recomputed"].value<double>()};
  }

 private:
  std::string origin_;
};

std::string printed(const PublishedValue& value) {
  return value.deviation ? study::score_text(value) : fmt::format("{:.2f}", value.value);
}

}  // namespace

const Published& Published::embedded() {
  static const Published published = [] {
    for (const EmbeddedFile& file : study_files()) {
      if (file.name == "published.toml") return parse(file.text, file.name);
    }
    throw InternalError("published.toml is not in this program");
  }();
  return published;
}

Published Published::parse(const std::string& text, const std::string& origin) {
  const toml::table file = read_toml(text, origin);
  const Reader reader(origin);
  Published published;
  published.source_ = file["paper"]["short"].value_or(std::string());
  for (const toml::node& node : reader.array(file, "table")) {
    published.tables_.push_back(reader.table(reader.entry(node)));
  }
  for (const toml::node& node : reader.array(file, "note")) {
    published.notes_.push_back(reader.note(reader.entry(node)));
  }
  return published;
}

const PublishedTable& Published::table(const std::string& id) const {
  for (const PublishedTable& table : tables_) {
    if (table.id == id) return table;
  }
  fail(ErrorKind::config, "there is no published table '{}'", id);
}

std::optional<PublishedValue> Published::find(const std::string& id, const std::string& dataset,
                                              const std::string& method,
                                              const std::string& column) const {
  for (const PublishedTable::Part& part : table(id).parts) {
    const auto values = part.values.find(method);
    const auto place = std::find(part.columns.begin(), part.columns.end(), column);
    if (part.dataset != dataset || values == part.values.end() || place == part.columns.end()) {
      continue;
    }
    return values->second[static_cast<size_t>(place - part.columns.begin())];
  }
  return std::nullopt;
}

study::PublishedLookup Published::lookup(std::vector<std::string> tables) const {
  return [this, tables = std::move(tables)](const std::string& dataset, const std::string& method,
                                            const std::string& column) {
    for (const std::string& id : tables) {
      if (const auto value = find(id, dataset, method, column)) return value;
    }
    return std::optional<PublishedValue>();
  };
}

std::vector<std::string> Published::notes_of(const std::string& table,
                                             const std::vector<std::string>& datasets) const {
  std::vector<std::string> texts;
  for (const PublishedNote& note : notes_) {
    const bool concerns =
        note.dataset.empty() || datasets.empty() || contains(datasets, note.dataset);
    if (note.table == table && concerns) texts.push_back(note.text);
  }
  return texts;
}

Table Published::layout(const std::string& id) const {
  const PublishedTable& source = table(id);
  Table layout;
  layout.title = fmt::format("Table {} of {}: {}", source.number, source_, source.caption);
  layout.head = {"method"};
  const auto& methods = source.parts.front().methods;
  for (const std::string& method : methods) layout.rows.push_back({{method}});
  for (const PublishedTable::Part& part : source.parts) {
    layout.groups.push_back({part.dataset, static_cast<int>(part.columns.size())});
    for (size_t c = 0; c < part.columns.size(); ++c) {
      layout.head.push_back(part.columns[c]);
      for (size_t m = 0; m < methods.size(); ++m) {
        const auto values = part.values.find(methods[m]);
        layout.rows[m].push_back({values == part.values.end() ? "" : printed(values->second[c])});
      }
    }
  }
  layout.notes = notes_of(id, {});
  return layout;
}

study::PublishedLookup for_built_in(const std::vector<study::ResultRow>& rows,
                                    study::PublishedLookup lookup) {
  std::set<std::string> own;
  for (const study::ResultRow& row : rows) {
    if (is_own_data(config_head(row.config, "configuration").dataset)) {
      own.insert({row.dataset, study::without_seed(row.dataset)});
    }
  }
  return [own, lookup = std::move(lookup)](const std::string& dataset, const std::string& method,
                                           const std::string& column) {
    if (own.count(dataset)) return std::optional<PublishedValue>();
    const std::string base = dataset.substr(0, dataset.find(" #"));
    return lookup(base == "mnist75sp" ? "mnist" : base, method, column);
  };
}

}  // namespace grm::report
