#include <torch/types.h>

#include <algorithm>
#include <filesystem>

#include "data/describe.h"
#include "data/helpers.h"
#include "io/npz.h"
#include "io/planetoid.h"

namespace grm {
namespace {

using test::load_dataset;

std::vector<int64_t> sorted_degrees(const Adjacency& edges) {
  std::vector<int64_t> degrees = test::to_vector(edges.in.offsets.diff());
  std::sort(degrees.begin(), degrees.end());
  return degrees;
}

// Number of features that the two ends of an edge share, for each edge, in ascending order: it does
// not depend on the order of the nodes, but does on which features belong to which node.
std::vector<int64_t> sorted_overlaps(const Adjacency& edges, const Adjacency& x) {
  std::vector<int64_t> overlaps;
  for (int64_t i = 0; i < edges.rows(); ++i) {
    for (int64_t e = edges.in.offset()[i]; e < edges.in.offset()[i + 1]; ++e) {
      const int64_t j = edges.in.index()[e];
      std::vector<int32_t> both;
      std::set_intersection(x.in.index() + x.in.offset()[i], x.in.index() + x.in.offset()[i + 1],
                            x.in.index() + x.in.offset()[j], x.in.index() + x.in.offset()[j + 1],
                            std::back_inserter(both));
      overlaps.push_back(static_cast<int64_t>(both.size()));
    }
  }
  std::sort(overlaps.begin(), overlaps.end());
  return overlaps;
}

AdjacencyPtr rows_of(const io::Npz& npz, const std::string& prefix) {
  const torch::Tensor offsets = npz.at(prefix + "_indptr").to(torch::kInt64);
  const torch::Tensor rows =
      torch::repeat_interleave(torch::arange(offsets.numel() - 1), offsets.diff());
  const auto cols = npz.at(prefix + "_shape")[1].item<int64_t>();
  return make_adjacency(offsets.numel() - 1, cols, npz.at(prefix + "_indices"), rows);
}

TEST(CoraReal, CountsAreThePublishedOnes) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("cora", root);
  const DomainSummary summary = describe(task)[0];
  EXPECT_EQ(summary.nodes, 2708);
  EXPECT_EQ(summary.edges, 10556);
  EXPECT_EQ(summary.self_loops, 0);
  EXPECT_EQ(summary.features, 1443);
  EXPECT_EQ(task.training[0].graph.x.sparse->nnz(), 49216);
  EXPECT_TRUE(test::is_symmetric(*task.training[0].graph.edges));
  EXPECT_EQ(task.training[0].name, "domain0");
  EXPECT_EQ(task.validation[0].name, "domain1");
  ASSERT_EQ(task.test.size(), 8u);
  EXPECT_EQ(task.test[0].name, "T1");
  EXPECT_EQ(task.hashes.size(), 6u);
}

// gnn-benchmark's cora.npz is the same graph in another order of nodes (and of feature columns).
TEST(CoraReal, TestRowsArePermutedSoThatEdgesJoinTheSameFeaturesAsInTheOtherRelease) {
  REAL_DATA_OR_SKIP(root);
  if (!std::filesystem::exists(root + "/cora/cora.npz")) GTEST_SKIP() << "needs cora/cora.npz";
  const io::Npz npz = io::read_npz(root + "/cora/cora.npz");
  const AdjacencyPtr edges = symmetrised(*rows_of(npz, "adj"));
  const AdjacencyPtr x = rows_of(npz, "attr");
  const Task task = load_dataset("cora", root);
  const Graph& graph = task.training[0].graph;
  EXPECT_EQ(sorted_degrees(*graph.edges), sorted_degrees(*edges));
  const std::vector<int64_t> expected = sorted_overlaps(*edges, *x);
  EXPECT_EQ(sorted_overlaps(*graph.edges, *graph.x.sparse), expected);
  // The comparison does see a wrong order: here the last 1000 rows run backwards.
  const auto [column, row] = edge_list(*graph.x.sparse);
  const torch::Tensor backwards = torch::where(row.ge(1708), 1708 + 2707 - row, row);
  EXPECT_NE(sorted_overlaps(*graph.edges, *make_adjacency(2708, 1433, column, backwards)),
            expected);
}

// Edge homophily of Cora by its published classes is 0.81 (Pei et al., Geom-GCN, ICLR 2020).
TEST(CoraReal, EdgeHomophilyByPublishedClassIsThePublishedOne) {
  REAL_DATA_OR_SKIP(root);
  const io::Planetoid raw = io::read_planetoid(root + "/cora", "cora");
  const Task task = load_dataset("cora", root);
  const auto [source, target] = edge_list(*task.training[0].graph.edges);
  const torch::Tensor same =
      raw.labels.index_select(0, source).eq(raw.labels.index_select(0, target));
  EXPECT_NEAR(same.to(torch::kFloat64).mean().item<double>(), 0.81, 0.005);
}

TEST(CoraReal, SeedsAndFamiliesGiveTheirOwnData) {
  REAL_DATA_OR_SKIP(root);
  const std::string zero = fingerprint(load_dataset("cora", root));
  EXPECT_EQ(fingerprint(load_dataset("cora", root)), zero);
  EXPECT_NE(fingerprint(load_dataset("cora", root, {{"dataset_seed", "1"}})), zero);
  EXPECT_NE(fingerprint(load_dataset("cora", root, {{"generator", "sgc"}})), zero);
  EXPECT_NE(fingerprint(load_dataset("cora", root, {{"generator", "gat"}})), zero);
}

// The protocol measured 7 to 10 non-empty classes and a majority share of 0.28 to 0.81 over 15
// draws; the bounds leave some room for other draws.
TEST(CoraReal, LabelsOfSeveralDrawsLieInTheMeasuredRange) {
  REAL_DATA_OR_SKIP(root);
  for (int seed = 0; seed < 5; ++seed) {
    const Task task = load_dataset("cora", root, {{"dataset_seed", std::to_string(seed)}});
    const DomainSummary summary = describe(task)[0];
    const auto used = std::count_if(summary.labels.begin(), summary.labels.end(),
                                    [](int64_t count) { return count > 0; });
    EXPECT_GE(used, 6) << seed;
    EXPECT_GT(summary.majority_share, 0.2) << seed;
    EXPECT_LT(summary.majority_share, 0.9) << seed;
  }
}

TEST(CoraReal, CentringRemovesTheShiftBetweenDomains) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("cora", root, {{"centre", "domain"}});
  const torch::Tensor first = task.training[0].graph.x.to_dense();
  for (const Domain& domain : {task.validation[0], task.test[0], task.test[7]}) {
    EXPECT_LT((domain.graph.x.to_dense() - first).abs().max().item<float>(), 1e-5);
  }
}

TEST(CoraMixReal, HasTheLabelsOfCoraAndAtRatioZeroItsFeatures) {
  REAL_DATA_OR_SKIP(root);
  const Task cora = load_dataset("cora", root);
  const Task mix = load_dataset("cora-mix", root, {{"bias", "0"}});
  EXPECT_TRUE(torch::equal(mix.training[0].labels.y, cora.training[0].labels.y));
  const torch::Tensor x1 = cora.training[0].graph.x.to_dense().narrow(1, 0, 1433);
  for (const Domain& domain : {mix.training[0], mix.test[7]}) {
    EXPECT_TRUE(torch::equal(domain.graph.x.to_dense(), x1));
  }
}

TEST(CoraMixReal, CentringRemovesTheShiftBetweenDomains) {
  REAL_DATA_OR_SKIP(root);
  const Task task = load_dataset("cora-mix", root, {{"centre", "domain"}, {"bias", "0.5"}});
  EXPECT_EQ(task.features(), 1433);
  const torch::Tensor first = task.training[0].graph.x.to_dense();
  EXPECT_LT((task.test[4].graph.x.to_dense() - first).abs().max().item<float>(), 1e-5);
}

TEST(CoraReal, CacheGivesTheSameData) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder cache;
  DataContext context;
  context.root = root;
  const std::string plain = fingerprint(load_dataset("cora", context));
  context.cache = cache.path();
  EXPECT_EQ(fingerprint(load_dataset("cora", context)), plain);
  EXPECT_EQ(fingerprint(load_dataset("cora", context)), plain);
}

TEST(CoraReal, DamagedFileIsNamed) {
  REAL_DATA_OR_SKIP(root);
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.file("cora"));
  for (const std::string& file : DatasetChoice("cora").files()) {
    std::filesystem::copy_file(root + "/" + file, folder.file(file));
  }
  const std::string path = folder.file("cora/ind.cora.allx");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(test::data_error([&] { load_dataset("cora", folder.path()); }),
              ::testing::HasSubstr("ind.cora.allx"));
}

}  // namespace
}  // namespace grm
