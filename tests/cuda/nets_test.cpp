// Ego-nets of a GPU are those of the host, and a recorded step is the same as one that is not.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "devices.h"
#include "graph/device_nets.h"
#include "graph/random.h"
#include "grm/core/rng.h"
#include "ops/sparse.h"

namespace grm::test {
namespace {

AdjacencyPtr random_graph(int64_t nodes, int64_t pairs, uint64_t seed) {
  Stream draws(seed);
  std::vector<int64_t> from, to;
  for (int64_t k = 0; k < pairs; ++k) {
    from.push_back(static_cast<int64_t>(draws.below(nodes)));
    to.push_back(static_cast<int64_t>(draws.below(nodes)));
  }
  for (int64_t k = 0; k < nodes; k += 2) {  // a hub
    from.push_back(k);
    to.push_back(0);
  }
  return make_adjacency(nodes, nodes, torch::tensor(from, torch::kInt64),
                        torch::tensor(to, torch::kInt64));
}

void expect_equal(const torch::Tensor& device, const torch::Tensor& host, const char* what) {
  const torch::Tensor there = device.cpu();
  ASSERT_GE(there.numel(), host.numel()) << what;
  EXPECT_TRUE(torch::equal(there.narrow(0, 0, host.numel()), host)) << what;
}

void expect_same_pattern(const Adjacency& device, const Adjacency& host) {
  expect_equal(device.in.offsets, host.in.offsets, "offsets");
  expect_equal(device.in.indices, host.in.indices, "indices");
  expect_equal(device.out.offsets, host.out.offsets, "offsets of the transpose");
  expect_equal(device.out.indices, host.out.indices, "indices of the transpose");
  expect_equal(device.out_edge, host.out_edge, "edges of the transpose");
  const torch::Tensor behind = device.in.offsets.cpu().slice(0, host.in.offsets.numel());
  EXPECT_TRUE(behind.eq(host.nnz()).all().item<bool>()) << "rows behind the last one are empty";
}

TEST(DeviceNets, AreThoseOfTheHost) {
  const std::vector<std::vector<int64_t>> fanouts = {{20, 0}, {5, 3}, {63}, {4, 3, 3}, {0}};
  uint64_t seed = 1;
  for (const std::vector<int64_t>& fanout : fanouts) {
    ASSERT_TRUE(DeviceNets::fit(fanout));
    const AdjacencyPtr edges = random_graph(300, 3000, ++seed);
    const torch::Tensor targets = torch::arange(300, torch::kInt64).slice(0, 0, 300, 2).flip(0);
    const Stream draws(seed * 77);
    const GraphBatch host = ego_batch(*edges, targets, fanout, draws);
    const DeviceNets nets(*edges, targets.to(gpu()), fanout, draws);
    const GraphBatch batch = nets.batch();
    EXPECT_EQ(batch.graphs, host.graphs);
    EXPECT_EQ(batch.counted.item<int64_t>(), host.rows());
    expect_equal(batch.node_offsets, host.node_offsets, "node offsets");
    expect_equal(batch.nodes, host.nodes, "nodes");
    expect_equal(batch.graph_of_node, host.graph_of_node, "graphs");
    expect_same_pattern(*nets.pattern(false, torch::kFloat32), *host.edges);
    torch::Tensor kipf;
    const AdjacencyPtr loops = with_self_loops(*host.edges);
    expect_same_pattern(*nets.pattern(true, torch::kFloat64, &kipf), *loops);
    const torch::Tensor weights =
        ops::normalise(loops, torch::ones({loops->nnz()}, torch::kFloat64));
    EXPECT_LT(difference(kipf.slice(0, 0, loops->nnz()), weights), 1e-14);
  }
}

TEST(DeviceNets, KnowWhatIsTooLargeForThem) {
  EXPECT_TRUE(DeviceNets::fit({7, 8}));
  EXPECT_FALSE(DeviceNets::fit({64}));
  EXPECT_FALSE(DeviceNets::fit({10, 10}));
  EXPECT_TRUE(DeviceNets::fit({20, 0, 100}));
}

TEST(DeviceNets, TakeTheirKeyFromAPlaceInDeviceMemory) {
  const AdjacencyPtr edges = random_graph(200, 3000, 9);
  const torch::Tensor targets = torch::arange(50, torch::kInt64).to(gpu());
  const torch::Tensor key = torch::full({1}, int64_t{1234567}, torch::kInt64).to(gpu());
  const Stream placed =
      Stream(0).at_place(reinterpret_cast<const uint64_t*>(key.data_ptr<int64_t>()));
  const DeviceNets by_place(*edges, targets, {6}, placed);
  const DeviceNets by_value(*edges, targets, {6}, Stream(1234567));
  EXPECT_TRUE(torch::equal(by_place.batch().nodes, by_value.batch().nodes));
}

TEST(DeviceRandom, KeysAreTakenFromAPlaceInDeviceMemory) {
  const torch::Tensor key = torch::full({1}, int64_t{987654321}, torch::kInt64).to(gpu());
  const Stream placed =
      Stream(0).at_place(reinterpret_cast<const uint64_t*>(key.data_ptr<int64_t>()));
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const auto options = torch::dtype(type).device(gpu());
    const torch::Tensor a = torch::empty({1001}, options), b = torch::empty({1001}, options);
    fill_normal(placed, a);
    fill_normal(Stream(987654321), b);
    EXPECT_TRUE(torch::equal(a, b));
    fill_uniform(placed, a, -1.0, 1.0);
    fill_uniform(Stream(987654321), b, -1.0, 1.0);
    EXPECT_TRUE(torch::equal(a, b));
  }
}

}  // namespace
}  // namespace grm::test
