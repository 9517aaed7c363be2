#include "study/portfolio.h"

#include "core/text.h"

namespace grm::study {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs with(Pairs pairs, const Pairs& more) {
  pairs.insert(pairs.end(), more.begin(), more.end());
  return pairs;
}

std::vector<Candidate> node_portfolio() {
  const Pairs textbook = {{"method.dropout", "0.5"},
                          {"method.batch_norm", "false"},
                          {"method.weight_decay", "0.0005"},
                          {"train.epochs", "200"}};
  const Pairs centred = {{"dataset.centre", "domain"}};
  const Pairs mlp = with(textbook, {{"method.backbone", "mlp"}});
  return {
      {"gcn-dropout", "the textbook GCN: dropout 0.5, no batch norm", "erm", "kipf", textbook},
      {"gcn-dropout-centred", "the textbook GCN on domain-centred features", "erm", "kipf",
       with(textbook, centred)},
      {"gcn-input-dropout", "the textbook GCN with dropout of the input, too", "erm", "kipf",
       with(textbook, {{"method.input_dropout", "0.5"}})},
      {"mlp", "the features alone, without the edges", "erm", "kipf", mlp},
      {"mlp-centred", "domain-centred features alone", "erm", "kipf", with(mlp, centred)},
      {"sage-dropout", "GraphSAGE with dropout 0.5, no batch norm", "erm", "kipf",
       with(textbook, {{"method.backbone", "sage"}})},
      {"erm", "ERM as it stands: GCN with batch norm", "erm", "kipf"},
      {"erm-centred", "ERM on domain-centred features", "erm", "kipf", centred},
      {"mmd", "hidden features of the domains made alike", "mmd", "fast"},
      {"mmd-centred", "MMD on domain-centred features", "mmd", "fast", centred},
      {"arm", "adapts to a graph by a context of its nodes", "arm", "fast"},
      {"drnn", "weighs the domains that are fitted worst", "drnn", "fast"},
      {"grm-best", "GRM, our preset", "grm", "best"},
      {"grm-centred", "GRM on domain-centred features", "grm", "centred"},
  };
}

std::vector<Candidate> graph_portfolio() {
  // Presets ask for up to 400 epochs; runs that gain end by patience long before.
  const Pairs shorter = {{"train.epochs", "100"}};
  const auto readout = [&](const char* pooling) {
    return with(shorter, {{"method.pooling", pooling}});
  };
  return {
      {"trivial-size", "numbers of nodes and edges alone", "trivial", "size"},
      {"trivial-mean", "the mean of the node features alone", "trivial", "mean-features"},
      {"erm", "ERM: a GIN, mean of the node rows", "erm", "dir-backbone", shorter},
      {"erm-sum", "ERM with a sum readout", "erm", "dir-backbone", readout("sum")},
      {"erm-max", "ERM with a max readout", "erm", "dir-backbone", readout("max")},
      {"erm-log-mean-exp", "ERM with a log-mean-exp readout", "erm", "dir-backbone",
       readout("log-mean-exp")},
      {"erm-dropout", "ERM, wider, with dropout 0.5", "erm", "dir-backbone",
       with(shorter, {{"method.hidden", "64"}, {"method.dropout", "0.5"}})},
      // Without the embedding its extractor cannot read sparse features, which one-hot columns are.
      {"dir", "rationales that are stable under interventions", "dir", "official",
       with(shorter, {{"method.extractor_embed", "true"}})},
      {"grm-gin", "GRM with a GIN encoder", "grm", "gin", shorter},
      {"grm-best", "GRM, our preset", "grm", "best", shorter},
      {"grm-nodes", "GRM that generates nodes", "grm", "nodes"},
  };
}

}  // namespace

std::vector<Candidate> portfolio(Level level) {
  return level == Level::node ? node_portfolio() : graph_portfolio();
}

RunConfig config_of(const Candidate& candidate, const std::string& data, TestScoring test) {
  RunConfig config(data, candidate.method, candidate.preset);
  for (const auto& [key, value] : candidate.settings) config.set(key, value);
  config.set("train.test", to_string(test));
  return config;
}

std::string train_flags(const Candidate& candidate) {
  std::string flags = "--method " + candidate.method + " --preset " + candidate.preset;
  for (const auto& [key, value] : candidate.settings) flags += " --set " + key + "=" + value;
  return flags;
}

}  // namespace grm::study
