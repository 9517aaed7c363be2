#include "serve/body.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "core/json.h"
#include "data/own/locate.h"
#include "grm/core/error.h"
#include "io/npz_write.h"

namespace grm::serve {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostGraphs = 10'000;  // of one request

std::string type_of(const HttpRequest& request) {
  const std::string type = request.header("content-type");
  return type.substr(0, type.find(';'));
}

bool is_array_file(const std::string& type) {
  return type == "application/octet-stream" || type == "application/zip";
}

// For a moment, and for this process alone: nothing is flushed to disk.
void write_plain(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail(ErrorKind::io, "the temporary folder cannot be written; is the disk full?");
}

// Tables of a model lie in its folder, or below.
void write_table(const std::string& folder, const std::string& name, const std::string& text) {
  if (own::leaves_folder(name))
    fail(ErrorKind::data, "the table '{}' lies outside its folder", name);
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::filesystem::create_directories(path.parent_path());
  write_plain(path.string(), text);
}

ordered_json parsed(const HttpRequest& request) {
  ordered_json body;
  try {
    body = parse_json<ordered_json>(request.body, "the body");
  } catch (const ordered_json::exception&) {
    fail(ErrorKind::data, "the body is not JSON; fix: send one object, see /openapi.json");
  }
  if (!body.is_object()) fail(ErrorKind::data, "the body must be a JSON object");
  return body;
}

void take_text(const ordered_json& body, const char* key, std::string& value) {
  if (!body.contains(key)) return;
  if (body[key].is_string()) {
    value = body[key].get<std::string>();
  } else if (body[key].is_number_integer()) {
    value = fmt::format("{}", body[key].get<int64_t>());
  } else {
    fail(ErrorKind::data, "'{}' must be a text", key);
  }
}

// Numbers of a list of one or two axes.
class Numbers {
 public:
  explicit Numbers(const std::string& name) : name_(name) {}

  torch::Tensor tensor(const ordered_json& list) {
    if (!list.is_array()) wrong("is not a list of numbers");
    const bool rows = !list.empty() && list.front().is_array();
    const size_t columns = rows ? list.front().size() : 0;
    for (const ordered_json& entry : list) {
      if (!rows) {
        add(entry);
        continue;
      }
      if (!entry.is_array() || entry.size() != columns) wrong("has rows of different lengths");
      for (const ordered_json& value : entry) add(value);
    }
    const auto count = static_cast<int64_t>(list.size());
    const torch::Tensor flat =
        whole_ ? torch::tensor(wholes_, torch::kInt64) : torch::tensor(reals_, torch::kFloat64);
    return rows ? flat.view({count, static_cast<int64_t>(columns)}) : flat;
  }

 private:
  [[noreturn]] void wrong(const char* what) const {
    fail(ErrorKind::data, "the array '{}' {}; fix: send numbers, as [..] or as rows [[..], ..]",
         name_, what);
  }
  void add(const ordered_json& value) {
    if (value.is_boolean()) {
      whole(value.get<bool>() ? 1 : 0);
    } else if (value.is_number_integer()) {
      if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)
        wrong("has a huge number");
      whole(value.get<int64_t>());
    } else if (value.is_number_float()) {
      real(value.get<double>());
    } else if (value.is_null()) {
      real(std::numeric_limits<double>::quiet_NaN());  // missing
    } else {
      wrong("holds something that is not a number");
    }
  }
  void whole(int64_t value) {
    if (whole_) {
      wholes_.push_back(value);
    } else {
      reals_.push_back(static_cast<double>(value));
    }
  }
  void real(double value) {
    if (whole_) {
      for (const int64_t w : wholes_) reals_.push_back(static_cast<double>(w));
      wholes_.clear();
      whole_ = false;
    }
    reals_.push_back(value);
  }

  const std::string& name_;
  bool whole_ = true;
  std::vector<int64_t> wholes_;
  std::vector<double> reals_;
};

void write_arrays(const ordered_json& arrays, const std::string& path) {
  if (!arrays.is_object() || arrays.empty()) {
    fail(ErrorKind::data, "a graph is an object of arrays: x, edge_index and so on");
  }
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& [name, list] : arrays.items()) {
    if (name.empty() || name.size() > 64 || name.find_first_of("/\\") != std::string::npos) {
      fail(ErrorKind::data, "a name of an array is no such name");
    }
    tensors[name] = Numbers(name).tensor(list);
  }
  // An empty list of pairs is as wide as the others.
  const auto edges = tensors.find("edge_index");
  if (edges != tensors.end() && edges->second.numel() == 0) {
    edges->second = torch::empty({2, 0}, torch::kInt64);
  }
  write_plain(path, io::to_npz(tensors, "the body"));
}

// A value as a cell that reads back as what it was.
std::string cell(const ordered_json& value, char separator) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return json_text(value);
  if (!value.is_string()) fail(ErrorKind::data, "a cell of a table is a number, a text or null");
  const std::string text = value.get<std::string>();
  if (text.find_first_of("\"\r\n") == std::string::npos &&
      text.find(separator) == std::string::npos && text.find('\0') == std::string::npos &&
      !text.empty() && text.front() != ' ' && text.back() != ' ') {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string table_text(const ordered_json& rows, const char* table, char separator) {
  if (!rows.is_array() || rows.empty() || !rows.front().is_object()) {
    fail(ErrorKind::data, "'{}' must be a list of rows {{column: value}}", table);
  }
  std::vector<std::string> columns;
  std::string text;
  for (const auto& [name, value] : rows.front().items()) {
    text += (columns.empty() ? "" : std::string(1, separator)) + cell(name, separator);
    columns.push_back(name);
  }
  text += '\n';
  size_t number = 0;
  for (const ordered_json& row : rows) {
    ++number;
    if (!row.is_object() || row.size() != columns.size()) {
      fail(ErrorKind::data, "'{}': row {} has not the columns of the first", table, number);
    }
    for (size_t k = 0; k < columns.size(); ++k) {
      const auto found = row.find(columns[k]);
      if (found == row.end()) {
        fail(ErrorKind::data, "'{}': row {} has no column '{}'", table, number, columns[k]);
      }
      text += (k == 0 ? "" : std::string(1, separator)) + cell(*found, separator);
    }
    text += '\n';
  }
  return text;
}

void write_tables(const ordered_json& tables, const TableNames& names, const std::string& folder) {
  if (!tables.is_object() || !tables.contains("nodes")) {
    fail(ErrorKind::data, "'tables' needs 'nodes' and 'edges', lists of rows {{column: value}}");
  }
  for (const auto& [name, rows] : tables.items()) {
    const bool nodes = name == "nodes", edges = name == "edges";
    if (!nodes && !edges && name != "graphs") {
      fail(ErrorKind::data, "'tables' has nodes, edges and graphs, no '{}'", name);
    }
    const std::string& file = nodes ? names.nodes : edges ? names.edges : names.graphs;
    std::string text;
    if (edges && rows.is_array() && rows.empty()) {
      text = fmt::format("source{}target\n", names.separator);
    } else {
      text = table_text(rows, name.c_str(), names.separator);
    }
    write_table(folder, file, text);
  }
}

void write_files(const ordered_json& files, const TableNames& names, const std::string& folder) {
  if (!files.is_object() || files.empty()) {
    fail(ErrorKind::data, "'files' is an object of tables as text, such as {}", names.nodes);
  }
  for (const auto& [name, text] : files.items()) {
    const auto is = [&name = name](const std::string& table) { return name == table; };
    if (!is(names.nodes) && !is(names.edges) && !is(names.graphs)) {
      fail(ErrorKind::data, "the model's tables are {}, {} and {}", names.nodes, names.edges,
           names.graphs);
    }
    if (!text.is_string()) fail(ErrorKind::data, "'files' holds the tables as text");
    write_table(folder, name, text.get_ref<const std::string&>());
  }
}

// Names of domains are names of files here.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

}  // namespace

struct Body::Parsed {
  ordered_json value;
};

Body::~Body() = default;

Body::Body(const HttpRequest& request) : request_(request) {
  asking_.model = request.param("model");
  asking_.item = request.param("item");
  asking_.domain = request.param("domain");
  asking_.csv = request.header("accept").find("text/csv") != std::string::npos;
  const std::string rows = request.param("rows");
  const char* end = rows.data() + rows.size();
  if (!rows.empty() &&
      (std::from_chars(rows.data(), end, asking_.rows).ptr != end || asking_.rows < 0)) {
    fail(ErrorKind::config, "'rows' is a whole number: how many rows are sent");
  }
  const std::string type = type_of(request);
  if (is_array_file(type)) return;
  if (type != "application/json") {
    fail(
        ErrorKind::config,
        "Content-Type is '{}'; fix: application/json, or application/octet-stream for an .npz file",
        type);
  }
  parsed_ = std::make_unique<Parsed>(Parsed{parsed(request)});
  take_text(parsed_->value, "model", asking_.model);
  take_text(parsed_->value, "item", asking_.item);
  take_text(parsed_->value, "domain", asking_.domain);
}

std::string Body::write(const TableNames& tables, const std::string& folder) const {
  if (!parsed_) {
    const std::string path = folder + "/request.npz";
    write_plain(path, request_.body);
    return path;
  }
  const ordered_json& body = parsed_->value;
  if (body.contains("arrays")) {
    const std::string path = folder + "/request.npz";
    write_arrays(body["arrays"], path);
    return path;
  }
  const std::string path = folder + "/request";
  if (body.contains("graphs")) {
    const ordered_json& graphs = body["graphs"];
    if (!graphs.is_object() || graphs.empty() || graphs.size() > kMostGraphs) {
      fail(ErrorKind::data, "'graphs' is an object of 1 to {} graphs by name", kMostGraphs);
    }
    std::filesystem::create_directories(path);
    for (const auto& [name, arrays] : graphs.items()) {
      if (!is_plain_name(name)) {
        fail(ErrorKind::data, "names of graphs are letters, digits, '_', '-' and '.'");
      }
      write_arrays(arrays, path + "/" + name + ".npz");
    }
  } else if (body.contains("tables")) {
    write_tables(body["tables"], tables, path);
  } else if (body.contains("files")) {
    write_files(body["files"], tables, path);
  } else {
    fail(ErrorKind::data, "the body has no 'arrays', 'graphs', 'tables' or 'files'");
  }
  return path;
}

}  // namespace grm::serve
