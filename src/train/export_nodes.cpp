// TorchScript of the methods of the node level.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "nn/backbone.h"
#include "train/export_text.h"

namespace grm::script {
namespace {

const std::string kKipf = "kipf", kBatched = "batched";

using LayerText = std::function<std::string(const std::string& rows, const std::string& number)>;

/// Layers of (map, norm, activation), the last one plain; their rows are `h`.
void write_layers(Text& text, int64_t layers, bool norms, const LayerText& layer,
                  const std::string& prefix = "") {
  for (int64_t l = 1; l < layers; ++l) {
    text.line("h = " + layer(l == 1 ? "x" : "h", std::to_string(l)));
    if (norms) text.normalise(fmt::format("{}norm{}", prefix, l));
    text.line("h = torch.relu(h)");
  }
  text.line("h = " + layer(layers == 1 ? "x" : "h", std::to_string(layers)));
}

LayerText convolution(const std::string& prefix) {
  return [prefix](const std::string& rows, const std::string& l) {
    const std::string name = prefix + "conv" + l;
    return Text::received(Text::map(name, rows)) + fmt::format(" + self.{}_bias", name);
  };
}

bool with_norms(const Text& text) {
  return text.says("batch_norm", true);
}

void write_gat(Text& text, int64_t layers) {
  text.edges(true);
  for (int64_t l = 1; l <= layers; ++l) {
    const bool last = l == layers;
    text.line("u = " + Text::map(fmt::format("conv{}", l), l == 1 ? "x" : "h"));
    text.line(
        fmt::format("u = u.view(n, self.conv{0}_source.size(0), self.conv{0}_source.size(1))", l));
    text.line(
        fmt::format("a = (u * self.conv{0}_source).sum(2)[edges[0]] + "
                    "(u * self.conv{0}_target).sum(2)[edges[1]]",
                    l));
    text.line("a = torch.where(a > 0.0, a, 0.2 * a)");
    // Softmax over the pairs into a node; less the largest of all, which cancels.
    text.line("a = torch.exp(a - a.max())");
    text.line("total = torch.zeros(n, a.size(1), device=a.device).index_add(0, edges[1], a)");
    text.line("a = a / total[edges[1]]");
    text.line("h = torch.zeros_like(u).index_add(0, edges[1], u[edges[0]] * a.unsqueeze(2))");
    text.line(last ? fmt::format("h = h.mean(1) + self.conv{}_bias", l)
                   : fmt::format("h = h.reshape(n, -1) + self.conv{}_bias", l));
    if (last) break;
    if (with_norms(text)) text.normalise(fmt::format("norm{}", l));
    text.line("h = torch.where(h > 0.0, h, torch.expm1(h))");
  }
}

// Its operator is transposed: a node receives from its out-neighbours.
void write_gcnii(Text& text, int64_t layers) {
  text.operators(kKipf);
  text.line("edges = torch.flip(edges, [0])");
  text.line("h0 = torch.relu(" + Text::linear("linear1", "x") + ")");
  text.line("h = h0");
  for (int64_t l = 1; l <= layers; ++l) {
    const double theta = std::log1p(1.0 / static_cast<double>(l));
    text.line("s = 0.9 * " + Text::received("h") + " + 0.1 * h0");
    text.line(fmt::format("h = torch.relu({} * s + {} * torch.mm(s, self.conv{}_weight))",
                          1.0 - theta, theta, l));
  }
  text.line("h = torch.log_softmax(" + Text::linear("linear2", "h") + ", 1)");
}

void write_gpr(Text& text) {
  text.operators(kKipf);
  text.line("h = torch.relu(" + Text::linear("linear1", "x") + ")");
  text.line("s = " + Text::linear("linear2", "h"));
  text.line("h = self.coefficients[0] * s");
  text.line("for k in range(1, self.coefficients.size(0)):");
  text.line("    s = " + Text::received("s"));
  text.line("    h = h + self.coefficients[k] * s");
}

void write_sage(Text& text, int64_t layers) {
  text.edges(false);
  text.line("degree = torch.bincount(edges[1], minlength=n) * 1.0");
  text.line("w = torch.reciprocal(degree)[edges[1]]");
  write_layers(text, layers, with_norms(text), [](const std::string& rows, const std::string& l) {
    const std::string name = "conv" + l;
    return Text::received(Text::map(name + "_neighbours", rows)) +
           fmt::format(" + self.{}_neighbours_bias + ", name) + Text::map(name + "_self", rows);
  });
}

}  // namespace

void write_backbone(Text& text) {
  const auto kind =
      value_of<nn::BackboneKind>(text.option("backbone", to_string(nn::BackboneKind::gcn)));
  const int64_t layers = text.count("layers", 2);
  const auto stays = [&] {
    text.refuse("the backbone " + text.option("backbone", "") +
                " reads features of edges, or is a network of your own");
  };
  if (!kind) stays();
  switch (*kind) {
    case nn::BackboneKind::gcn:
      text.operators(text.option("conv", kKipf));
      write_layers(text, layers, with_norms(text), convolution(""));
      break;
    case nn::BackboneKind::sage:
      write_sage(text, layers);
      break;
    case nn::BackboneKind::mlp:
      write_layers(text, layers, with_norms(text),
                   [](const std::string& rows, const std::string& l) {
                     return Text::linear("linear" + l, rows);
                   });
      break;
    case nn::BackboneKind::gat:
      write_gat(text, layers);
      break;
    case nn::BackboneKind::gpr:
      write_gpr(text);
      break;
    case nn::BackboneKind::gcnii:
      write_gcnii(text, layers);
      break;
    default:
      stays();
  }
  text.line("return h");
}

void write_mixup(Text& text) {
  text.operators(text.option("conv", kKipf));
  text.line("h = x");
  for (int64_t l = 1; l <= text.count("layers", 2); ++l) {
    const std::string name = fmt::format("layer{}", l);
    text.line("h = " + Text::received(fmt::format("torch.mm(h, self.{}_neighbours)", name)) +
              " + " + Text::linear(name + "_self", "h"));
    if (with_norms(text)) text.normalise(name + "_norm");
    text.line("h = torch.relu(h)");
  }
  text.line("return " + Text::linear("head", "h"));
}

// The context is that of all nodes, where the program draws `support` of them.
void write_arm(Text& text) {
  if (text.option("inference", "") == kBatched) {
    text.refuse("method.inference = batched cuts the nodes at random into batches");
  }
  text.differs(
      fmt::format("exported is the prediction in the context of all nodes; grm predict draws {} of "
                  "them, and is the "
                  "same for graphs that have no more",
                  text.count("support", 50)));
  text.operators(text.option("conv", kKipf));
  write_layers(text, 2, with_norms(text), convolution("context_"), "context_");
  text.line("x = torch.cat([x, h.mean(0, keepdim=True).expand(n, h.size(1))], 1)");
  write_layers(text, 2, with_norms(text), convolution(""));
  text.line("return h");
}

void write_isgib(Text& text) {
  text.operators(text.option("conv", kKipf));
  text.line("h = " + Text::linear("input", "x"));
  text.line("h = " + convolution("")("h", "1"));
  if (with_norms(text)) text.normalise("norm1");
  text.line("h = torch.relu(h)");
  text.line("return " + convolution("")("h", "2"));
}

void write_mario(Text& text) {
  const int64_t layers = text.count("layers", 2);
  text.operators(text.option("conv", kKipf));
  text.line("h = x");
  for (int64_t l = 1; l <= layers; ++l) {
    text.line("h = " + convolution("encoder_")("h", std::to_string(l)));
    if (with_norms(text)) text.normalise(fmt::format("encoder_norm{}", l));
    if (l < layers || text.says("last_relu", true)) text.line("h = torch.relu(h)");
  }
  text.line("return " + Text::linear("head", "h"));
}

}  // namespace grm::script
