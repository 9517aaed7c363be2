// TorchScript of GRM at the mean of its latent variable, z = mu: what the program computes with
// method.samples = 0. With more samples it takes the mean over seeded draws, which are no part of the model.
#include <fmt/format.h>

#include "methods/grm/options.h"
#include "train/export_text.h"

namespace grm::script {
namespace {

template <class Value>
bool is(const Text& text, const std::string& key, Value value, Value otherwise) {
  return text.option(key, to_string(otherwise)) == to_string(value);
}

void write_mu(Text& text) {
  const std::string kind = text.option("encoder", to_string(EncoderKind::gcn2));
  const bool linear = kind == to_string(EncoderKind::linear);
  const bool two = kind == to_string(EncoderKind::gcn2);
  const bool propagates = two || kind == to_string(EncoderKind::gcn1);
  if (kind == to_string(EncoderKind::gin)) {
    EncoderText encoder;
    encoder.name = "encoder_gin";
    encoder.layer = to_string(nn::GraphLayerKind::gin);
    encoder.layers = text.count("gin_layers", 3);
    encoder.virtual_node = text.says("gin_virtual_node", false);
    encoder.batch_norm = text.says("batch_norm", true);
    write_graph_encoder(text, encoder);
  } else {
    if (propagates) {
      text.operators(text.option("conv", to_string(nn::Conv::kipf)));
      if (text.graphs()) text.line("assert edge_weight is None, \"edge_weight is not exported\"");
    }
    const std::string first = Text::map("encoder_first", "x");
    text.line("h = " + (propagates ? Text::received(first) : first) + " + self.encoder_first_bias");
    if (!linear) {
      if (text.says("encoder_norm", false)) text.normalise("encoder_norm");
      text.line("h = torch.relu(h)");
    }
  }
  if (!linear) {
    const std::string heads = Text::map("encoder_heads", "h");
    text.line("h = " + (two ? Text::received(heads) : heads) + " + self.encoder_heads_bias");
  }
  text.line("z = h[:, :h.size(1) // 2]");
}

// Pairs of generated edges and their weights, self-pairs among them.
void write_generated_edges(Text& text) {
  if (is(text, "edge_support", EdgeSupport::observed, EdgeSupport::all)) {
    text.edges(true);
  } else {  // all pairs within each graph, whose rows lie together
    text.line("size = torch.bincount(graph)");
    text.line("begin = (torch.cumsum(size, 0) - size)[graph]");
    text.line("size = size[graph]");
    text.line("target = torch.repeat_interleave(torch.arange(n, device=x.device), size)");
    text.line("before = torch.repeat_interleave(torch.cumsum(size, 0) - size, size)");
    text.line("source = torch.arange(target.numel(), device=x.device) - before + begin[target]");
    text.line("edges = torch.stack([source, target])");
  }
  text.line("f = " + Text::linear("decoder_edges", "z"));
  text.line("w = torch.sigmoid((f[edges[0]] * f[edges[1]]).sum(1))");
  if (is(text, "conv", nn::Conv::kipf, nn::Conv::kipf))
    text.line("w = self.symmetric(edges, w, n)");
}

}  // namespace

void write_grm(Text& text) {
  if (is(text, "encoder_input", EncoderReads::concat, EncoderReads::concat)) {
    text.refuse(
        "method.encoder_input = concat reads the influential nodes of each node, which are "
        "found by a search over paths");
  }
  if (is(text, "encoder", EncoderKind::own, EncoderKind::gcn2)) {
    text.refuse("its encoder is a network of your own");
  }
  if (is(text, "classifier", ClassifierKind::own, ClassifierKind::gcn)) {
    text.refuse("its classifier is a network of your own");
  }
  if (!text.graphs() && is(text, "scope", Scope::ego, Scope::ego)) {
    text.refuse("method.scope = ego draws the ego-net of each node; scope = whole can be");
  }
  const int64_t samples = text.count("samples", GrmOptions().samples);
  if (samples > 0 && !is(text, "ablation", Ablation::sampling, Ablation::none)) {
    text.differs(fmt::format(
        "exported is the prediction at the mean of its latent variable; grm predict takes the mean "
        "over {} seeded draw{}, and is the same with method.samples = 0",
        samples, samples == 1 ? "" : "s"));
  }
  if (text.graphs()) text.line("graphs = int(graph.max()) + 1");
  if (is(text, "encoder_input", EncoderReads::centred, EncoderReads::concat)) {
    text.line("x = x - x.mean(0)");
  }
  write_mu(text);
  write_generated_edges(text);
  const bool gates = is(text, "presence", Presence::gate, Presence::none) &&
                     !is(text, "ablation", Ablation::presence, Ablation::none);
  if (gates) text.line("p = torch.sigmoid(" + Text::linear("decoder_presence", "z") + ")");
  const std::string gated = gates ? " * p" : "";
  text.line("h = " + Text::linear("decoder_features", "z"));
  text.line("h = " + Text::received(Text::map("classifier_first", "h") + gated) +
            " + self.classifier_first_bias");
  if (text.says("batch_norm", true)) text.normalise("classifier_norm");
  text.line("h = " + Text::received(Text::map("classifier_second", "torch.relu(h)") + gated) +
            " + self.classifier_second_bias");
  if (is(text, "skip", Skip::latent, Skip::none)) {
    text.line("h = h + " + Text::map("classifier_skip", "z"));
  }
  if (!text.graphs()) {
    text.line("return h");
    return;
  }
  std::string pooling = text.option("pooling", to_string(nn::Pooling::mean));
  // Without presence every node weighs the same.
  if (pooling == to_string(nn::Pooling::weighted) && !gates) pooling = to_string(nn::Pooling::mean);
  text.line("return " + pooled(pooling, "h", gates ? "p.squeeze(1)" : ""));
}

}  // namespace grm::script
