// Molecules from OGB's column files.
//
// Atoms and bonds are categories. OGB writes the position of a value in a list whose last place is
// "misc", so a number beyond the list cannot come from it and is an error.
#include "data/molecules.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "data/graph_sets.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "grm/core/error.h"
#include "io/csv.h"

namespace grm {
namespace {

constexpr int kMoleculeParser = 1;  // raise when the parsed form changes
// Atomic number - 1, chirality, degree, formal charge + 5, hydrogens, radical electrons,
// hybridisation, aromatic, in a ring.
const std::vector<int64_t> kAtomSizes = {119, 5, 12, 12, 10, 6, 6, 2, 2};
// Bond type, stereo, conjugated.
const std::vector<int64_t> kBondSizes = {5, 6, 2};

constexpr char kMoleculeEdges[] = "/raw/edge.csv.gz";
constexpr char kBonds[] = "/raw/edge-feat.csv.gz";
constexpr char kMoleculeLabels[] = "/raw/graph-label.csv.gz";
constexpr char kAtoms[] = "/raw/node-feat.csv.gz";
constexpr char kEdgeCounts[] = "/raw/num-edge-list.csv.gz";
constexpr char kNodeCounts[] = "/raw/num-node-list.csv.gz";

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

// Answers to several tasks: [rows, tasks] float.
torch::Tensor read_answers(const std::string& path, int64_t tasks) {
  std::vector<float> answers;
  io::read_csv(path, [&](const io::CsvRow& row) {
    row.expect_size(tasks);
    for (int64_t k = 0; k < tasks; ++k) {
      const double answer = row.text(k).empty() ? std::nan("") : row.parse_double(k);
      if (!std::isnan(answer) && answer != 0 && answer != 1) {
        fail(ErrorKind::data, "{}:{} column {}: '{}' is not 0, 1, nan or empty", path, row.line,
             k + 1, row.text(k));
      }
      answers.push_back(static_cast<float>(answer));
    }
  });
  return torch::tensor(answers).reshape({-1, tasks});
}

// Labels of each molecule, unknown ones where the file is not there.
torch::Tensor read_labels_of(const std::string& path, int64_t tasks, int64_t molecules) {
  const bool there = tasks > 0 && std::filesystem::exists(path);
  if (tasks <= 1) {
    return there ? torch::tensor(read_numbers(path, 0, 1), torch::kInt64)
                 : torch::full({molecules}, -1, torch::kInt64);
  }
  return there ? read_answers(path, tasks)
               : torch::full({molecules, tasks}, std::numeric_limits<float>::quiet_NaN());
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

// `path` tells where the table of a name lies.
io::TensorFile parse_molecules(int64_t tasks, const std::function<std::string(const char*)>& path) {
  const std::vector<int64_t> atoms = read_numbers(path(kNodeCounts), 1, INT32_MAX);
  const std::vector<int64_t> bonds = read_numbers(path(kEdgeCounts), 0, INT32_MAX);
  const auto graphs = static_cast<int64_t>(atoms.size());
  const torch::Tensor labels = read_labels_of(path(kMoleculeLabels), tasks, graphs);
  expect_rows(path(kEdgeCounts), static_cast<int64_t>(bonds.size()), graphs, "molecules");
  expect_rows(path(kMoleculeLabels), labels.size(0), graphs, "molecules");
  io::TensorFile file;
  file.tensors["parts"] = parts_of(atoms);
  file.tensors["y"] = labels;
  file.tensors["atoms"] = read_codes(path(kAtoms), kAtomSizes);
  expect_rows(path(kAtoms), file.tensors["atoms"].size(0),
              file.tensors["parts"][-1].item<int64_t>(), "atoms");
  file.tensors["bonds"] = read_bonds(path(kMoleculeEdges), atoms, bonds);
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

io::TensorFile cached_molecules(const DataContext& context, const MoleculeTables& tables,
                                const Task& task) {
  std::map<std::string, std::string> hashes;
  for (const std::string& file : tables.files()) hashes[file] = task.hashes.at(file);
  const std::string key = std::filesystem::path(tables.folder).filename().string();
  return cached(context, key, hashes, kMoleculeParser, [&] {
    return parse_molecules(
        tables.tasks, [&](const char* name) { return full_path(context, tables.folder + name); });
  });
}

}  // namespace

std::vector<std::string> MoleculeTables::files() const {
  std::vector<std::string> all = {folder + kMoleculeEdges, folder + kBonds};
  if (tasks > 0) all.push_back(folder + kMoleculeLabels);
  all.insert(all.end(), {folder + kAtoms, folder + kEdgeCounts, folder + kNodeCounts});
  return all;
}

Molecules::Molecules(const io::TensorFile& file)
    : labels_(file.tensors.at("y")), atom_codes_(file.tensors.at("atoms")) {
  const torch::Tensor& bonds = file.tensors.at("bonds");
  all_.parts = file.tensors.at("parts");
  const PackedEdges packed = pack_both_ways(all_.parts, bonds[0], bonds[1]);
  all_.edges = packed.edges;
  bond_codes_ = file.tensors.at("bond_codes").index_select(0, packed.pair);
}

Molecules::Molecules(const DataContext& context, const MoleculeTables& tables, const Task& task)
    : Molecules(cached_molecules(context, tables, task)) {}

Molecules::Molecules(const MoleculeTables& tables, const std::string& folder)
    : Molecules(parse_molecules(tables.tasks, [&](const char* name) { return folder + name; })) {}

std::vector<int64_t> Molecules::atoms() const {
  const torch::Tensor counts = all_.parts.diff().contiguous();
  return {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + counts.numel()};
}

Graph Molecules::set(const torch::Tensor& ids, const std::string& name) const {
  const GraphBatch batch = pick_graphs(all_, ids);
  Graph set = as_set(batch, name);
  set.x.sparse = one_hot(atom_codes_.index_select(0, batch.nodes), kAtomSizes);
  set.edge_x.sparse = one_hot(bond_codes_.index_select(0, batch.edge_ids), kBondSizes);
  return set;
}

Domain Molecules::domain(const torch::Tensor& ids, const std::string& name) const {
  Domain domain = make_domain(set(ids, name), labels_.index_select(0, ids));
  if (labels_.dim() == 2) {
    const torch::Tensor known = domain.labels.y.isnan().all(1).logical_not();
    domain.labels.loss = domain.labels.evaluate = torch::nonzero(known).reshape({-1});
  }
  return domain;
}

Domain Molecules::domain(const std::string& name) const {
  return domain(torch::arange(items(), torch::kInt64), name);
}

Task MoleculeDataset::empty_task() const {
  Task task;
  task.name = name_;
  task.level = Level::graph;
  task.classes = tables_.tasks > 1 ? tables_.tasks : 2;
  task.loss = tables_.tasks > 1 ? LossKind::multi_label : LossKind::binary_pair;
  task.metric = MetricKind::roc_auc;
  return task;
}

Molecules MoleculeDataset::read(const DataContext& context, Task& task) const {
  Source source;
  for (const std::string& file : files()) source.files.push_back({file});
  require_sources(context, {source}, task);
  return {context, tables_, task};
}

std::string MoleculeDataset::unseen_form() const {
  return "a folder with raw/node-feat.csv.gz, raw/num-node-list.csv.gz and the other tables of "
         "OGB; graph-label.csv.gz may be missing";
}

bool MoleculeDataset::is_unseen_form(const std::string& path) const {
  return std::filesystem::exists(path + kNodeCounts);
}

std::vector<Domain> MoleculeDataset::load_unseen(const std::string& path,
                                                 const std::vector<std::string>& /*names*/) const {
  const Molecules molecules({tables_.folder, std::max<int64_t>(tables_.tasks, 1)}, path);
  return {molecules.domain(std::filesystem::path(path).filename().string())};
}

}  // namespace grm
