#include "train/export_script.h"

#include <fmt/format.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/files.h"
#include "grm/core/error.h"
#include "nn/backbone.h"

namespace grm {
namespace {

// Methods whose model is one backbone that predicts as it is.
const std::set<std::string> kBackboneMethods = {"erm",      "drnn",  "mmd",  "irm",  "vrex",
                                                "groupdro", "coral", "dann", "eerm", "lisa"};
const std::string kIsGib = "isgib", kMario = "mario";
const std::string kOff = "false";

// What every model does with its inputs: pairs once, and those that the operators add.
constexpr char kShared[] = R"(
def pairs(self, edge_index: Tensor, n: int, symmetrise: bool, loops: bool) -> Tensor:
    key = edge_index[1] * n + edge_index[0]
    if symmetrise:
        key = torch.cat([key, edge_index[0] * n + edge_index[1]])
    if loops:
        key = torch.cat([key, torch.arange(n, device=key.device) * (n + 1)])
    key = torch._unique2(key, True)[0]
    return torch.stack([key % n, torch.div(key, n, rounding_mode="floor")])

def add_up(self, edges: Tensor, weights: Tensor, rows: Tensor) -> Tensor:
    out = torch.zeros_like(rows)
    return out.index_add(0, edges[1], rows[edges[0]] * weights.unsqueeze(1))

def kipf(self, edges: Tensor, n: int) -> Tensor:
    degree = torch.bincount(edges[1], minlength=n) * 1.0
    scale = torch.rsqrt(degree)
    return scale[edges[0]] * scale[edges[1]]

def norm(self, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    return beta + (x - mean) * (gamma * torch.rsqrt(variance + 1e-5))

def probabilities(self, edge_index: Tensor, x: Tensor) -> Tensor:
    return torch.softmax(self.forward(edge_index, x) / self.temperature, 1)
)";

std::string script_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class Script {
 public:
  Script(const ModelAbout& about, const std::string& path) : about_(about) {
    const ConfigSections sections = config_sections(about.config, path);
    if (const auto found = sections.find("method"); found != sections.end()) {
      options_ = found->second;
    }
  }

  std::string source() {
    line("def forward(self, edge_index: Tensor, x: Tensor) -> Tensor:");
    line("    n = x.size(0)");
    if (about_.centre == Centring::domain) line("    x = x - x.mean(0)");
    if (about_.level == Level::graph) refuse();
    if (kBackboneMethods.count(about_.method) > 0) {
      backbone();
    } else if (about_.method == kIsGib) {
      operators();
      line("    h = torch.addmm(self.input_bias, x, self.input_weight)");
      line("    h = self.add_up(edges, w, torch.mm(h, self.conv1_weight)) + self.conv1_bias");
      normalise("norm1");
      line("    h = torch.relu(h)");
      line("    return self.add_up(edges, w, torch.mm(h, self.conv2_weight)) + self.conv2_bias");
    } else if (about_.method == kMario) {
      mario();
    } else {
      refuse();
    }
    return text_ + kShared;
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string option(const std::string& key, const std::string& otherwise) const {
    const auto found = options_.find(key);
    return found == options_.end() ? otherwise : found->second;
  }
  int64_t count(const std::string& key, int64_t otherwise) const {
    return std::stoll(option(key, std::to_string(otherwise)));
  }
  bool normalised() const { return option("batch_norm", "true") != kOff; }

  [[noreturn]] void refuse() const {
    fail(
        ErrorKind::config,
        "{} at {} level is not exported: its prediction is more than a fixed formula of edge_index "
        "and x; models that can be: erm, drnn, mmd, irm, vrex, groupdro, coral, dann, eerm and "
        "lisa "
        "on the backbones gcn, sage, gat, gpr, gcnii and mlp, isgib and mario, at node level",
        about_.method, to_string(about_.level));
  }

  // Pairs `edges` and their weights `w`: the operator of the option `conv`.
  void operators(const std::string& conv = "") {
    const bool kipf = (conv.empty() ? option("conv", to_string(nn::Conv::kipf)) : conv) ==
                      to_string(nn::Conv::kipf);
    edges(kipf);
    line(kipf ? "    w = self.kipf(edges, n)"
              : "    w = torch.ones(edges.size(1), device=x.device)");
  }
  void edges(bool loops) {
    line(fmt::format("    edges = self.pairs(edge_index, n, {}, {})",
                     about_.symmetrise ? "True" : "False", loops ? "True" : "False"));
  }
  void normalise(const std::string& name) {
    if (!normalised()) return;
    line(
        fmt::format("    h = self.norm(h, self.{0}_gamma, self.{0}_beta, self.{0}_mean, "
                    "self.{0}_variance)",
                    name));
  }

  void backbone() {
    const auto kind =
        value_of<nn::BackboneKind>(option("backbone", to_string(nn::BackboneKind::gcn)));
    const int64_t layers = count("layers", 2);
    if (!kind) refuse();
    switch (*kind) {
      case nn::BackboneKind::gcn:
        operators();
        return blocks(layers, "torch.relu", [&](const std::string& in, const std::string& l) {
          return fmt::format(
              "self.add_up(edges, w, torch.mm({0}, self.conv{1}_weight)) + "
              "self.conv{1}_bias",
              in, l);
        });
      case nn::BackboneKind::sage:
        edges(false);
        line("    degree = torch.bincount(edges[1], minlength=n) * 1.0");
        line("    w = torch.reciprocal(degree)[edges[1]]");
        return blocks(layers, "torch.relu", [&](const std::string& in, const std::string& l) {
          return fmt::format(
              "self.add_up(edges, w, torch.mm({0}, self.conv{1}_neighbours_weight)) + "
              "self.conv{1}_neighbours_bias + torch.mm({0}, self.conv{1}_self_weight)",
              in, l);
        });
      case nn::BackboneKind::mlp:
        return blocks(layers, "torch.relu", [&](const std::string& in, const std::string& l) {
          return fmt::format("torch.addmm(self.linear{1}_bias, {0}, self.linear{1}_weight)", in, l);
        });
      case nn::BackboneKind::gat:
        return gat(layers);
      case nn::BackboneKind::gpr:
        operators(to_string(nn::Conv::kipf));
        line("    h = torch.relu(torch.addmm(self.linear1_bias, x, self.linear1_weight))");
        line("    h = torch.addmm(self.linear2_bias, h, self.linear2_weight)");
        line("    out = self.coefficients[0] * h");
        line("    for k in range(1, self.coefficients.size(0)):");
        line("        h = self.add_up(edges, w, h)");
        line("        out = out + self.coefficients[k] * h");
        return line("    return out");
      case nn::BackboneKind::gcnii:
        return gcnii(layers);
      default:
        refuse();
    }
  }

  template <class Layer>
  void blocks(int64_t layers, const char* activation, const Layer& layer) {
    for (int64_t l = 1; l < layers; ++l) {
      line("    h = " + layer(l == 1 ? "x" : "h", std::to_string(l)));
      normalise(fmt::format("norm{}", l));
      line(fmt::format("    h = {}(h)", activation));
    }
    line("    return " + layer(layers == 1 ? "x" : "h", std::to_string(layers)));
  }

  void gat(int64_t layers) {
    edges(true);
    for (int64_t l = 1; l <= layers; ++l) {
      const bool last = l == layers;
      line(fmt::format("    u = torch.mm({}, self.conv{}_weight)", l == 1 ? "x" : "h", l));
      line(fmt::format(
          "    u = u.view(n, self.conv{0}_source.size(0), self.conv{0}_source.size(1))", l));
      line(
          fmt::format("    a = (u * self.conv{0}_source).sum(2)[edges[0]] + "
                      "(u * self.conv{0}_target).sum(2)[edges[1]]",
                      l));
      line("    a = torch.where(a > 0.0, a, 0.2 * a)");
      // Softmax over the pairs into a node; less the largest of all, which cancels.
      line("    a = torch.exp(a - a.max())");
      line("    total = torch.zeros(n, a.size(1), device=a.device).index_add(0, edges[1], a)");
      line("    a = a / total[edges[1]]");
      line("    h = torch.zeros_like(u).index_add(0, edges[1], u[edges[0]] * a.unsqueeze(2))");
      line(last ? fmt::format("    return h.mean(1) + self.conv{}_bias", l)
                : fmt::format("    h = h.reshape(n, -1) + self.conv{}_bias", l));
      if (last) return;
      normalise(fmt::format("norm{}", l));
      line("    h = torch.where(h > 0.0, h, torch.expm1(h))");
    }
  }

  // Its operator is transposed: a node receives from its out-neighbours.
  void gcnii(int64_t layers) {
    operators(to_string(nn::Conv::kipf));
    line("    edges = torch.flip(edges, [0])");
    line("    h0 = torch.relu(torch.addmm(self.linear1_bias, x, self.linear1_weight))");
    line("    h = h0");
    for (int64_t l = 1; l <= layers; ++l) {
      const double theta = std::log1p(1.0 / static_cast<double>(l));
      line("    s = 0.9 * self.add_up(edges, w, h) + 0.1 * h0");
      line(fmt::format("    h = torch.relu({} * s + {} * torch.mm(s, self.conv{}_weight))",
                       1.0 - theta, theta, l));
    }
    line("    h = torch.addmm(self.linear2_bias, h, self.linear2_weight)");
    line("    return torch.log_softmax(h, 1)");
  }

  void mario() {
    const int64_t layers = count("layers", 2);
    operators();
    line("    h = x");
    for (int64_t l = 1; l <= layers; ++l) {
      line(
          fmt::format("    h = self.add_up(edges, w, torch.mm(h, self.encoder_conv{0}_weight)) + "
                      "self.encoder_conv{0}_bias",
                      l));
      normalise(fmt::format("encoder_norm{}", l));
      if (l < layers || option("last_relu", "true") != kOff) line("    h = torch.relu(h)");
    }
    line("    return torch.addmm(self.head_bias, h, self.head_weight)");
  }

  const ModelAbout& about_;
  std::map<std::string, std::string> options_;
  std::string text_;
};

}  // namespace

std::string script_source(const ModelAbout& about, const std::string& path) {
  return Script(about, path).source();
}

void export_script(const ModelFile& file, const std::string& path) {
  const std::string source = script_source(file.about, file.path);
  torch::jit::Module module("GrmModel");
  for (const auto& [name, tensor] : file.weights) {
    module.register_buffer(script_name(name), tensor.cpu().clone());
  }
  module.register_attribute("temperature", c10::FloatType::get(), file.about.temperature);
  const auto texts = [&](const char* name, const std::vector<std::string>& list) {
    c10::List<std::string> values;
    for (const std::string& each : list) values.push_back(each);
    module.register_attribute(name, c10::ListType::ofStrings(), values);
  };
  texts("labels", file.about.label_names);
  texts("features", file.about.feature_names);
  module.define(source);
  module.eval();
  std::ostringstream bytes;
  module.save(bytes);
  write_file_atomic(path, bytes.str());
}

}  // namespace grm
