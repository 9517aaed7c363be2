#include "train/export_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "grm/core/error.h"
#include "grm/nn/layers.h"
#include "grm/train/config.h"

namespace grm::script {
namespace {

const std::string kOff = "false";  // as TOML writes it

// What every model does with its inputs: pairs once, and the operators on them.
constexpr char kHelpers[] = R"(
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

def symmetric(self, edges: Tensor, weights: Tensor, n: int) -> Tensor:
    degree = torch.zeros(n, device=weights.device).index_add(0, edges[1], weights)
    scale = torch.where(degree > 0.0, torch.rsqrt(degree), torch.zeros_like(degree))
    return weights * scale[edges[0]] * scale[edges[1]]

def norm(self, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    return beta + (x - mean) * (gamma * torch.rsqrt(variance + 1e-5))
)";

constexpr char kGraphHelpers[] = R"(
def first_of_pairs(self, edge_index: Tensor, n: int) -> Tensor:
    key = edge_index[1] * n + edge_index[0]
    unique, place, counts = torch._unique2(key, True, True)
    order = torch.arange(key.numel(), device=key.device)
    last = torch.full_like(unique, key.numel())
    return last.scatter_reduce(0, place, order, "amin")

def sum_of(self, graph: Tensor, graphs: int, rows: Tensor) -> Tensor:
    out = torch.zeros(graphs, rows.size(1), device=rows.device, dtype=rows.dtype)
    return out.index_add(0, graph, rows)

def mean_of(self, graph: Tensor, graphs: int, rows: Tensor) -> Tensor:
    count = torch.bincount(graph, minlength=graphs).clamp(min=1).unsqueeze(1)
    return self.sum_of(graph, graphs, rows) / count

def max_of(self, graph: Tensor, graphs: int, rows: Tensor) -> Tensor:
    out = torch.zeros(graphs, rows.size(1), device=rows.device)
    return out.scatter_reduce(0, graph.unsqueeze(1).expand_as(rows), rows, "amax", include_self=False)

def log_mean_exp_of(self, graph: Tensor, graphs: int, rows: Tensor) -> Tensor:
    largest = self.max_of(graph, graphs, rows)
    mean = self.mean_of(graph, graphs, torch.exp(rows - largest[graph]))
    return torch.log(mean + torch.eq(mean, 0.0)) + largest
)";

}  // namespace

Text::Text(const ModelAbout& about, const std::string& path) : about_(about) {
  const ConfigSections sections = config_sections(about.config, path);
  if (const auto found = sections.find("method"); found != sections.end()) {
    options_ = found->second;
  }
}

std::string Text::arguments(bool with_types) const {
  const char* names[] = {"edge_index", "x", "graph", "edge_attr", "edge_weight"};
  std::string all;
  for (size_t k = 0; k < (graphs() ? 5U : 2U); ++k) {
    all += std::string(k == 0 ? "" : ", ") + names[k];
    if (with_types) all += k < 3 ? ": Tensor" : ": Optional[Tensor] = None";
  }
  return all;
}

std::string Text::source() const {
  const std::string typed = arguments(true);
  std::string out = "def forward(self, " + typed + ") -> Tensor:\n    n = x.size(0)\n";
  if (about_.centre == Centring::domain) out += "    x = x - x.mean(0)\n";
  out += text_;
  const auto after = [&](const char* name, const std::string& expression) {
    out += fmt::format("\ndef {}(self, {}) -> Tensor:\n    return {}\n", name, typed,
                       fmt::format(fmt::runtime(expression), arguments(false)));
  };
  switch (target_of(about_.loss)) {
    case Target::classes:
      after("probabilities", "torch.softmax(self.forward({}) / self.temperature, 1)");
      break;
    case Target::multi_label:
      after("probabilities", "torch.sigmoid(self.forward({}))");
      break;
    case Target::regression:
      after("values",
            about_.target_scale.mean.empty()
                ? "self.forward({})"
                : "(self.forward({}).double() * self.scale_deviation + self.scale_mean).float()");
      break;
  }
  return out + kHelpers + (graphs() ? kGraphHelpers : "");
}

std::string Text::option(const std::string& key, const std::string& otherwise) const {
  const auto found = options_.find(key);
  return found == options_.end() ? otherwise : found->second;
}

int64_t Text::count(const std::string& key, int64_t otherwise) const {
  return std::stoll(option(key, std::to_string(otherwise)));
}

bool Text::says(const std::string& key, bool otherwise) const {
  return option(key, otherwise ? "true" : kOff) != kOff;
}

void Text::edges(bool loops) {
  line(fmt::format("edges = self.pairs(edge_index, n, {}, {})",
                   about_.symmetrise ? "True" : "False", loops ? "True" : "False"));
}

void Text::operators(const std::string& conv) {
  const bool kipf = conv == to_string(nn::Conv::kipf);
  edges(kipf);
  line("w = torch.ones(edges.size(1), device=x.device)");
  if (kipf) line("w = self.symmetric(edges, w, n)");
}

void Text::normalise(const std::string& name, const std::string& rows) {
  line(
      fmt::format("{1} = self.norm({1}, self.{0}_gamma, self.{0}_beta, self.{0}_mean, "
                  "self.{0}_variance)",
                  name, rows));
}

std::string Text::linear(const std::string& name, const std::string& rows) {
  return fmt::format("torch.addmm(self.{0}_bias, {1}, self.{0}_weight)", name, rows);
}

std::string Text::map(const std::string& name, const std::string& rows) {
  return fmt::format("torch.mm({1}, self.{0}_weight)", name, rows);
}

void Text::refuse(const std::string& why) const {
  fail(ErrorKind::config, "{} at {} level is not exported: {}. Models that can be: {}",
       about_.method, to_string(about_.level), why, exported_methods());
}

}  // namespace grm::script
