// TorchScript of graph encoders, readouts and the methods whose model is an encoder, a readout and a head.
#include <fmt/format.h>

#include "methods/graph/trivial.h"
#include "nn/graph_encoder.h"
#include "train/export_text.h"

namespace grm::script {
namespace {

using nn::GraphLayerKind;

void write_pairs(Text& text) {
  const bool both = text.about().symmetrise;
  text.line("given = torch.cat([edge_index, torch.flip(edge_index, [0])], 1)" +
            std::string(both ? "" : "[:, :edge_index.size(1)]"));
  text.line("first = self.first_of_pairs(given, n)");
  text.line("edges = given[:, first]");
  text.line("first = first % max(edge_index.size(1), 1)");
  if (text.about().edge_features > 0) {
    text.line("assert edge_attr is not None, \"the model reads features of edges: edge_attr\"");
    text.line("e = edge_attr[first]");
  }
}

void write_weights(Text& text, GraphLayerKind kind) {
  text.line("w = torch.ones(edges.size(1), device=x.device)");
  if (kind == GraphLayerKind::gcn) {
    text.line("one_more = 1.0 / (torch.bincount(edges[0], minlength=n) + 1)");
    text.line("w = torch.sqrt(one_more[edges[0]] * one_more[edges[1]])");
  }
  if (kind == GraphLayerKind::gin || kind == GraphLayerKind::gcn) return;
  text.line("if edge_weight is not None:");
  text.line("    w = edge_weight[first]");
  if (kind == GraphLayerKind::arma) text.line("w = self.symmetric(edges, w, n)");
  if (kind == GraphLayerKind::le) {
    text.line("sums = torch.zeros(n, device=x.device).index_add(0, edges[1], w).unsqueeze(1)");
  }
}

// The sum of w relu(row of the source + what the edge adds).
std::string messages(const Text& text, const std::string& name, const std::string& rows) {
  std::string message = rows + "[edges[0]]";
  if (text.about().edge_features > 0) message += fmt::format(" + torch.mm(e, self.{}_edges)", name);
  return fmt::format("torch.zeros_like({}).index_add(0, edges[1], torch.relu({}) * w.unsqueeze(1))",
                     rows, message);
}

// `h` goes through one layer.
void write_layer(Text& text, GraphLayerKind kind, const std::string& name) {
  switch (kind) {
    case GraphLayerKind::gin:
      text.line("h = h + " + messages(text, name, "h") + fmt::format(" + h * self.{}_eps", name));
      text.line("h = " + Text::linear(name + "_first", "h"));
      text.normalise(name + "_norm");
      text.line("h = " + Text::linear(name + "_second", "torch.relu(h)"));
      return;
    case GraphLayerKind::gcn:
      text.line("u = " + Text::linear(name + "_linear", "h"));
      text.line("h = " + messages(text, name, "u") +
                fmt::format(" + torch.relu(u + self.{}_root) * one_more.unsqueeze(1)", name));
      return;
    case GraphLayerKind::le:
      text.line("h = " + Text::linear(name + "_self", "h") + " + " +
                Text::received(Text::linear(name + "_source", "h")) + " - sums * " +
                Text::map(name + "_target", "h"));
      return;
    case GraphLayerKind::graph:
      text.line("h = " + Text::linear(name + "_neighbours", Text::received("h")) + " + " +
                Text::map(name + "_self", "h"));
      return;
    case GraphLayerKind::arma:
      text.line("h = torch.relu(" + Text::received(Text::map(name, "h")) +
                fmt::format(" + torch.mm(h, self.{0}_root) + self.{0}_bias)", name));
      return;
    case GraphLayerKind::own:
      text.refuse("its layers are a network of your own");
  }
}

void write_head(Text& text, const std::string& rows, int64_t layers) {
  text.line("h = " + Text::linear("head_linear1", rows));
  if (layers == 2) text.line("h = " + Text::linear("head_linear2", "torch.relu(h)"));
}

}  // namespace

void write_graph_encoder(Text& text, const EncoderText& encoder) {
  const auto kind = value_of<GraphLayerKind>(encoder.layer);
  if (!kind) text.refuse("its layer " + encoder.layer + " is not known");
  const auto name = [&](const std::string& of, int64_t l) {
    return fmt::format("{}_{}{}", encoder.name, of, l);
  };
  write_pairs(text);
  write_weights(text, *kind);
  text.line("h = " + (encoder.embed ? Text::linear(encoder.name + "_embed", "x") : "x"));
  if (encoder.virtual_node) {
    text.line(
        fmt::format("v = self.{0}_virtual_initial.expand(graphs, self.{0}_virtual_initial.size(1))",
                    encoder.name));
  }
  for (int64_t l = 1; l <= encoder.layers; ++l) {
    const bool last = l == encoder.layers;
    if (encoder.virtual_node) text.line("h = h + v[graph]");
    if (encoder.virtual_node && !last) {
      const std::string update = name("virtual_update", l);
      text.line("v = " + Text::linear(update + "_first", "self.sum_of(graph, graphs, h) + v"));
      text.normalise(update + "_inner", "v");
      text.line("v = " + Text::linear(update + "_second", "torch.relu(v)"));
      text.normalise(update + "_outer", "v");
      text.line("v = torch.relu(v)");
    }
    write_layer(text, *kind, name("conv", l));
    if (encoder.batch_norm) text.normalise(name("norm", l));
    if (!last || encoder.relu_last) text.line("h = torch.relu(h)");
  }
}

std::string pooled(const std::string& pooling, const std::string& rows, const std::string& gate) {
  const std::string x = gate.empty() ? rows : fmt::format("({}) * {}.unsqueeze(1)", rows, gate);
  const auto of = [&](const char* function) {
    return fmt::format("self.{}(graph, graphs, {})", function, x);
  };
  switch (value_of<nn::Pooling>(pooling).value_or(nn::Pooling::mean)) {
    case nn::Pooling::mean:
      break;
    case nn::Pooling::sum:
      return of("sum_of");
    case nn::Pooling::max:
      return of("max_of");
    case nn::Pooling::weighted:
      return of("sum_of") +
             fmt::format(" / (self.sum_of(graph, graphs, {}.unsqueeze(1)) + 1e-6)", gate);
    case nn::Pooling::log_mean_exp:
      return of("log_mean_exp_of");
  }
  return of("mean_of");
}

void write_graph_model(Text& text) {
  EncoderText encoder;
  encoder.name = "encoder";
  encoder.layer = text.option("layer", to_string(GraphLayerKind::gin));
  encoder.layers = text.count("layers", 3);
  encoder.virtual_node = text.says("virtual_node", false);
  encoder.batch_norm = text.says("batch_norm", true);
  encoder.relu_last = text.says("relu_last", false);
  encoder.embed = text.says("embed", true);
  text.line("graphs = int(graph.max()) + 1");
  write_graph_encoder(text, encoder);
  const std::string pooling = text.option("pooling", to_string(nn::Pooling::mean));
  std::string gate;
  if (pooling == to_string(nn::Pooling::weighted)) {
    gate = "gate";
    text.line("gate = torch.sigmoid(" + Text::linear("readout_gate", "h") + ").squeeze(1)");
  }
  const int64_t head = text.count("head_layers", 2);
  if (text.option("pool", to_string(nn::Pooled::rows)) == to_string(nn::Pooled::logits)) {
    write_head(text, "h", head);
    text.line("return " + pooled(pooling, "h", gate));
  } else {
    write_head(text, pooled(pooling, "h", gate), head);
    text.line("return h");
  }
}

void write_trivial(Text& text) {
  text.line("graphs = int(graph.max()) + 1");
  const std::string size = to_string(graph_level::TrivialReads::size);
  if (text.option("reads", size) == size) {
    write_pairs(text);
    text.line(
        "h = torch.stack([torch.bincount(graph, minlength=graphs), "
        "torch.bincount(graph[edges[1]], minlength=graphs)], 1)");
  } else {
    text.line("h = self.mean_of(graph, graphs, x.double())");
  }
  text.line("h = ((h - self.mean) / self.scale).float()");
  text.line("return torch.addmm(self.bias, h, self.weight)");
}

}  // namespace grm::script
