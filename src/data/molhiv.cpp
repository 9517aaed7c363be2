// ogbg-molhiv: molecules, and whether they inhibit the replication of HIV. Files as OGB hands them
// out; graphs are cut from the long tables by num-node-list and num-edge-list.
//
// Atoms and bonds are categories. OGB writes the position of a value in a list whose last place is
// "misc", so a number beyond the list cannot come from it and is an error. A column of k values
// becomes k columns of 0/1: a linear map of them is OGB's sum of embedding tables.
#include <torch/types.h>

#include <array>
#include <filesystem>
#include <functional>
#include <numeric>

#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {
namespace {

constexpr int kMolhivParser = 1;  // raise when the parsed form changes
// Atomic number - 1, chirality, degree, formal charge + 5, hydrogens, radical electrons,
// hybridisation, aromatic, in a ring.
const std::vector<int64_t> kAtomSizes = {119, 5, 12, 12, 10, 6, 6, 2, 2};
// Bond type, stereo, conjugated.
const std::vector<int64_t> kBondSizes = {5, 6, 2};

constexpr char kMolhivEdges[] = "molhiv/raw/edge.csv.gz";
constexpr char kBonds[] = "molhiv/raw/edge-feat.csv.gz";
constexpr char kMolhivLabels[] = "molhiv/raw/graph-label.csv.gz";
constexpr char kAtoms[] = "molhiv/raw/node-feat.csv.gz";
constexpr char kEdgeCounts[] = "molhiv/raw/num-edge-list.csv.gz";
constexpr char kNodeCounts[] = "molhiv/raw/num-node-list.csv.gz";

struct SplitFile {
  Role role;
  Use use;
  const char* path;
};
constexpr std::array<SplitFile, 3> kSplits = {
    {{Role::train, Use::training, "molhiv/split/scaffold/train.csv.gz"},
     {Role::validation, Use::validation, "molhiv/split/scaffold/valid.csv.gz"},
     {Role::test, Use::test, "molhiv/split/scaffold/test.csv.gz"}}};

// One whole number in low..high a line.
std::vector<int64_t> read_numbers(const std::string& path, int64_t low, int64_t high) {
  std::vector<int64_t> numbers;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(1);
    numbers.push_back(row.parse_int(0));
    if (numbers.back() < low || numbers.back() > high) {
      fail(ErrorKind::data, "{}:{}: {} is outside {}..{}", path, row.line, numbers.back(), low,
           high);
    }
  });
  return numbers;
}

void expect_rows(const std::string& path, int64_t found, int64_t expected, const char* what) {
  if (found == expected) return;
  fail(ErrorKind::data, "{}: {} rows, but there are {} {}", path, found, expected, what);
}

// Categories below `sizes`, [rows, columns] uint8.
torch::Tensor read_codes(const std::string& path, const std::vector<int64_t>& sizes) {
  const auto width = static_cast<int64_t>(sizes.size());
  std::vector<uint8_t> codes;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(width);
    for (int64_t k = 0; k < width; ++k) {
      const int64_t code = row.parse_int(k);
      if (code < 0 || code >= sizes[k]) {
        fail(ErrorKind::data, "{}:{} column {}: category {} is outside 0..{}", path, row.line,
             k + 1, code, sizes[k] - 1);
      }
      codes.push_back(static_cast<uint8_t>(code));
    }
  });
  const auto rows = static_cast<int64_t>(codes.size()) / width;
  return torch::tensor(codes, torch::kUInt8).reshape({rows, width});
}

// Bonds of all molecules, their ends counted through the set: [2, bonds].
torch::Tensor read_bonds(const std::string& path, const std::vector<int64_t>& atoms,
                         const std::vector<int64_t>& bonds) {
  std::vector<int64_t> source, target;
  size_t graph = 0;
  int64_t first = 0, left = bonds.empty() ? 0 : bonds[0];
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(2);
    while (left == 0 && graph + 1 < bonds.size()) {
      first += atoms[graph];
      left = bonds[++graph];
    }
    if (left == 0) {
      fail(ErrorKind::data, "{}:{}: more rows than the bonds of all molecules", path, row.line);
    }
    --left;
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t atom = row.parse_int(k);
      if (atom < 0 || atom >= atoms[graph]) {
        fail(ErrorKind::data, "{}:{} column {}: atom {}, but molecule {} has the atoms 0..{}", path,
             row.line, k + 1, atom, graph, atoms[graph] - 1);
      }
      (k == 0 ? source : target).push_back(first + atom);
    }
  });
  expect_rows(path, static_cast<int64_t>(source.size()),
              std::accumulate(bonds.begin(), bonds.end(), int64_t{0}), "bonds");
  return torch::stack({torch::tensor(source, torch::kInt64), torch::tensor(target, torch::kInt64)});
}

// `path` tells where a file lies; labels that are not there are -1.
io::TensorFile parse_molhiv(const std::function<std::string(const char*)>& path) {
  const std::vector<int64_t> atoms = read_numbers(path(kNodeCounts), 1, INT32_MAX);
  const std::vector<int64_t> bonds = read_numbers(path(kEdgeCounts), 0, INT32_MAX);
  const auto graphs = static_cast<int64_t>(atoms.size());
  const std::vector<int64_t> labels = std::filesystem::exists(path(kMolhivLabels))
                                          ? read_numbers(path(kMolhivLabels), 0, 1)
                                          : std::vector<int64_t>(atoms.size(), -1);
  expect_rows(path(kEdgeCounts), static_cast<int64_t>(bonds.size()), graphs, "molecules");
  expect_rows(path(kMolhivLabels), static_cast<int64_t>(labels.size()), graphs, "molecules");
  io::TensorFile file;
  file.tensors["parts"] = parts_of(atoms);
  file.tensors["y"] = torch::tensor(labels, torch::kInt64);
  file.tensors["atoms"] = read_codes(path(kAtoms), kAtomSizes);
  expect_rows(path(kAtoms), file.tensors["atoms"].size(0),
              file.tensors["parts"][-1].item<int64_t>(), "atoms");
  file.tensors["bonds"] = read_bonds(path(kMolhivEdges), atoms, bonds);
  file.tensors["bond_codes"] = read_codes(path(kBonds), kBondSizes);
  expect_rows(path(kBonds), file.tensors["bond_codes"].size(0), file.tensors["bonds"].size(1),
              "bonds");
  return file;
}

// Row i has a one in each column's own range: codes [n, k] to a pattern [n, sum of sizes].
AdjacencyPtr one_hot(const torch::Tensor& codes, const std::vector<int64_t>& sizes) {
  const int64_t n = codes.size(0), width = codes.size(1);
  Csr in;
  in.rows = n;
  in.cols = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  in.offsets = torch::arange(n + 1, torch::kInt64) * width;
  std::vector<int32_t> start(sizes.size(), 0);
  for (size_t k = 1; k < sizes.size(); ++k) {
    start[k] = start[k - 1] + static_cast<int32_t>(sizes[k - 1]);
  }
  in.indices = (codes.to(torch::kInt32) + torch::tensor(start, torch::kInt32)).reshape({-1});
  return with_transpose(std::move(in));
}

class Molhiv final : public Dataset {
 public:
  std::vector<std::string> files() const override {
    std::vector<std::string> all = {kMolhivEdges, kBonds,      kMolhivLabels,
                                    kAtoms,       kEdgeCounts, kNodeCounts};
    for (const SplitFile& split : kSplits) all.push_back(split.path);
    return all;
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "molhiv";
    task.level = Level::graph;
    task.classes = 2;
    task.loss = LossKind::binary_pair;
    task.metric = MetricKind::roc_auc;
    Source source;
    for (const std::string& file : files()) source.files.push_back({file});
    require_sources(context, {source}, task);
    std::map<std::string, std::string> tables = task.hashes;
    for (const SplitFile& split : kSplits) tables.erase(split.path);
    const io::TensorFile file = cached(context, "molhiv", tables, kMolhivParser, [&] {
      return parse_molhiv([&](const char* name) { return full_path(context, name); });
    });
    const torch::Tensor& bonds = file.tensors.at("bonds");
    Graph all;
    all.parts = file.tensors.at("parts");
    const PackedEdges packed = pack_both_ways(all.parts, bonds[0], bonds[1]);
    all.edges = packed.edges;
    std::vector<bool> taken(static_cast<size_t>(all.items()), false);
    for (const SplitFile& split : kSplits) {
      const torch::Tensor ids = read_split(full_path(context, split.path), taken);
      const GraphBatch batch = pick_graphs(all, ids);
      Graph set = as_set(batch, to_string(split.role));
      set.x.sparse = one_hot(file.tensors.at("atoms").index_select(0, batch.nodes), kAtomSizes);
      const torch::Tensor pairs = packed.pair.index_select(0, batch.edge_ids);
      set.edge_x.sparse = one_hot(file.tensors.at("bond_codes").index_select(0, pairs), kBondSizes);
      add_domain(task, split.use,
                 make_domain(std::move(set), file.tensors.at("y").index_select(0, ids)));
    }
    return task;
  }

  std::string unseen_form() const override {
    return "a folder with raw/node-feat.csv.gz, raw/num-node-list.csv.gz and the other tables of "
           "OGB; graph-label.csv.gz may be missing";
  }
  bool is_unseen_form(const std::string& path) const override {
    return std::filesystem::exists(path_in(path, kNodeCounts));
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& /*names*/) const override {
    const io::TensorFile file = parse_molhiv([&](const char* name) { return path_in(path, name); });
    const torch::Tensor& bonds = file.tensors.at("bonds");
    Graph set;
    set.name = std::filesystem::path(path).filename().string();
    set.parts = file.tensors.at("parts");
    const PackedEdges packed = pack_both_ways(set.parts, bonds[0], bonds[1]);
    set.edges = packed.edges;
    set.x.sparse = one_hot(file.tensors.at("atoms"), kAtomSizes);
    set.edge_x.sparse =
        one_hot(file.tensors.at("bond_codes").index_select(0, packed.pair), kBondSizes);
    return {make_domain(std::move(set), file.tensors.at("y"))};
  }
};

}  // namespace

std::unique_ptr<Dataset> make_molhiv() {
  return std::make_unique<Molhiv>();
}

}  // namespace grm
