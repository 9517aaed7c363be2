// Layers, optimiser, dropout and random numbers on a GPU are those of the CPU.
#include <gtest/gtest.h>
#include <torch/types.h>

#include "devices.h"
#include "graph/random.h"
#include "grm/nn/adam.h"
#include "methods/small_graph_task.h"
#include "methods/small_task.h"
#include "nn/backbone.h"
#include "nn/graph_encoder.h"
#include "nn/graph_layers.h"
#include "nn/losses.h"
#include "ops/harness.h"

namespace grm::test {
namespace {

using torch::Tensor;

const torch::Device kHost(torch::kCPU);

TEST(DeviceRandom, UniformNumbersAreThoseOfTheHostAndNormalOnesToRounding) {
  const OnDevice here(gpu());
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    for (const int64_t n : {1, 5, 1000, 70001}) {
      const Stream stream = Rng(3).stream("numbers", n);
      const Tensor host = torch::empty({n}, type);
      const Tensor there = torch::empty({n}, torch::dtype(type).device(gpu()));
      fill_uniform(stream, host, 0.0, 1.0);
      fill_uniform(stream, there, 0.0, 1.0);
      EXPECT_TRUE(torch::equal(host, there.cpu()));
      fill_normal(stream, host);
      fill_normal(stream, there);
      EXPECT_LE((host - there.cpu()).abs().max().item<double>(), 2e-6);
    }
  }
}

TEST(DeviceDropout, DropsTheEntriesThatTheHostDrops) {
  const OnDevice here(gpu());
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    Tensor host = normal("x", {317, 9}, type), there = host.to(gpu());
    host.set_requires_grad(true);
    there.set_requires_grad(true);
    nn::Pass on_host = nn::Pass::train(Stream(5)), on_device = nn::Pass::train(Stream(5));
    for (int call = 0; call < 2; ++call) {
      const Tensor a = on_host.dropout(host, 0.3), b = on_device.dropout(there, 0.3);
      EXPECT_TRUE(torch::equal(a.ne(0), b.ne(0).cpu()));
      EXPECT_LE(difference(a, b), 1e-6);
      a.square().sum().backward();
      b.square().sum().backward();
    }
    EXPECT_LE(difference(host.grad(), there.grad()), 1e-6);
  }
}

TEST(DeviceBatchNorm, RowsGradientsAndRunningStatisticsAreThoseOfTheHost) {
  const OnDevice here(gpu());
  for (const auto type : {torch::kFloat32, torch::kFloat64}) {
    const double limit = type == torch::kFloat32 ? 2e-5 : 1e-10;
    for (const int64_t rows : {1, 40, 3000}) {
      Tensor y[2], dx[2];
      std::map<std::string, Tensor> state[2];
      for (int k = 0; k < 2; ++k) {
        const torch::Device device = k == 0 ? kHost : gpu();
        nn::ParameterSet set(Rng(1), type, device);
        nn::BatchNorm norm(set, "norm", 33);
        {
          const at::NoGradGuard no_grad;
          norm.gamma.copy_(normal("gamma", {33}, type));
          norm.beta.copy_(normal("beta", {33}, type));
        }
        Tensor x = (normal("x", {rows, 33}, type) * 2 + 1).to(device).set_requires_grad(true);
        y[k] = norm.forward(x, nn::Pass::train(Stream(1)));
        (y[k] * normal("dy", {rows, 33}, type).to(device)).sum().backward();
        dx[k] = x.grad();
        state[k] = set.snapshot();
        state[k]["dgamma"] = norm.gamma.grad();
        state[k]["dbeta"] = norm.beta.grad();
        state[k]["evaluated"] = norm.forward(x, nn::Pass::evaluate());
      }
      SCOPED_TRACE(testing::Message() << rows << " rows");
      EXPECT_LE(difference(y[0], y[1]), limit);
      // With one row the gradient is zero up to rounding, in units of 1 / sqrt(eps).
      if (rows > 1) {
        EXPECT_LE(difference(dx[0], dx[1]), 10 * limit);
      }
      for (const auto& [name, tensor] : state[0]) {
        EXPECT_LE(difference(tensor, state[1].at(name)), limit) << name;
      }
    }
  }
}

TEST(DeviceAdam, StepsAreThoseOfTheHostAlsoWhereAParameterRests) {
  const OnDevice here(gpu());
  for (const bool decoupled : {false, true}) {
    std::map<std::string, Tensor> state[2];
    for (int k = 0; k < 2; ++k) {
      nn::ParameterSet set(Rng(1), torch::kFloat32, k == 0 ? kHost : gpu());
      for (int t = 0; t < 70; ++t) {
        set.uniform("p" + std::to_string(t), {t % 7 + 1, 13}, 1.0);
      }
      nn::Adam adam(set, 0.01, 0.1, decoupled);
      for (int step = 0; step < 4; ++step) {
        adam.zero_grad();
        int number = 0;
        for (const auto& [name, p] : set.parameters()) {
          if ((number++ + step) % 5 == 0) continue;  // no gradient for this one
          (p * normal(name + std::to_string(step), p.sizes().vec(), torch::kFloat32).to(p.device()))
              .sum()
              .backward();
        }
        adam.step();
      }
      state[k] = set.snapshot();
      for (const auto& [name, tensor] : adam.state()) state[k]["adam/" + name] = tensor;
    }
    for (const auto& [name, tensor] : state[0]) {
      EXPECT_TRUE(state[1].at(name).device().is_cpu());
      EXPECT_LE(difference(tensor, state[1].at(name)), 1e-6) << name;
    }
  }
}

// Logits and gradients of all parameters for one pass.
template <class Pass>
void expect_same_model(const Pass& logits_of, double limit) {
  Tensor logits[2];
  std::map<std::string, Tensor> gradients[2];
  for (int k = 0; k < 2; ++k) {
    nn::ParameterSet set(Rng(4), torch::kFloat32, k == 0 ? kHost : gpu());
    logits[k] = logits_of(set);
    logits[k].square().mean().backward();
    for (const auto& [name, p] : set.parameters()) gradients[k][name] = p.grad();
  }
  EXPECT_TRUE(logits[1].is_cuda());
  EXPECT_LE(difference(logits[0], logits[1]), limit);
  // Measured by the largest gradient of all: that of a bias before a batch normalisation is zero
  // but for rounding.
  double largest = 0.0;
  for (const auto& [name, gradient] : gradients[0]) {
    if (!gradient.defined()) continue;
    const Tensor here = gradient.abs().max();
    largest = std::max(largest, here.item<double>());
  }
  for (const auto& [name, gradient] : gradients[0]) {
    ASSERT_EQ(gradient.defined(), gradients[1][name].defined()) << name;
    if (!gradient.defined()) continue;
    const Tensor apart = (gradient - gradients[1][name].cpu()).abs().max();
    EXPECT_LE(apart.item<double>(), limit * largest) << name;
  }
}

TEST(DeviceBackbones, GiveTheLogitsAndGradientsOfTheHost) {
  const OnDevice here(gpu());
  const Domain domain = small_domain(1, 200);
  for (const nn::BackboneEntry& entry : nn::backbones()) {
    for (const nn::Conv conv : {nn::Conv::sum, nn::Conv::kipf}) {
      SCOPED_TRACE(to_string(entry.kind) + " " + to_string(conv));
      nn::BackboneOptions options;
      options.backbone = entry.kind;
      options.conv = conv;
      options.hidden = 16;
      options.dropout = 0.2;
      expect_same_model(
          [&](nn::ParameterSet& set) {
            const auto backbone = nn::make_backbone(set, "", options, domain.graph.x.width(), 2);
            nn::Pass pass = nn::Pass::train(Stream(9));
            return backbone->forward({domain.graph.edges, domain.graph.x.centred(), {}}, pass)
                .logits;
          },
          2e-4);
    }
  }
}

TEST(DeviceGraphEncoders, GiveTheRowsAndGradientsOfTheHost) {
  const OnDevice here(gpu());
  const Domain set_of_graphs = small_graphs(1, 40, "a", 2);
  for (const nn::GraphLayerKind layer : nn::layers_of_ours()) {
    for (const bool virtual_node : {false, true}) {
      SCOPED_TRACE(to_string(layer) + (virtual_node ? " with virtual node" : ""));
      nn::GraphEncoderOptions options;
      options.layer = layer;
      options.hidden = 16;
      options.dropout = 0.1;
      options.virtual_node = virtual_node;
      expect_same_model(
          [&](nn::ParameterSet& set) {
            const auto encoder = nn::make_graph_encoder(set, "e", options, 3, 2);
            const nn::GraphInput input =
                nn::pick_input(set_of_graphs.graph, torch::arange(3, 30, torch::kInt64));
            nn::Pass pass = nn::Pass::train(Stream(9));
            const Tensor rows = encoder->forward(input, pass);
            return torch::cat({nn::pool(nn::Pooling::mean, input.node_offsets, rows),
                               nn::pool(nn::Pooling::sum, input.node_offsets, rows),
                               nn::pool(nn::Pooling::max, input.node_offsets, rows),
                               nn::pool(nn::Pooling::log_mean_exp, input.node_offsets, rows),
                               nn::pool(nn::Pooling::weighted, input.node_offsets, rows,
                                        torch::sigmoid(rows.select(1, 0)))},
                              1);
          },
          2e-4);
    }
  }
}

TEST(DeviceLosses, AreThoseOfTheHost) {
  const OnDevice here(gpu());
  const Tensor logits = normal("logits", {50, 2}, torch::kFloat32);
  const Tensor y = torch::arange(50, torch::kInt64).remainder(2);
  for (const LossKind kind : {LossKind::softmax, LossKind::binary_pair}) {
    const Tensor host = nn::supervised_loss(kind, logits, y);
    EXPECT_LE(difference(host, nn::supervised_loss(kind, logits.to(gpu()), y)), 1e-6);
    EXPECT_LE(difference(host, nn::supervised_loss(kind, logits.to(gpu()), y.to(gpu()))), 1e-6);
  }
}

}  // namespace
}  // namespace grm::test
