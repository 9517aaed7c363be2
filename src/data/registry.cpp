#include <torch/types.h>

#include "core/text.h"
#include "data/graph_sets.h"
#include "data/makers.h"
#include "data/memory.h"
#include "data/own/entry.h"
#include "grm/core/error.h"
#include "grm/data/dataset.h"
#include "grm/data/own_data.h"

namespace grm {

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> table = {
      {"sbm", "generated block-model graph with artificial spurious features; needs no file", "",
       make_sbm},
      {"cora", "Cora citations with artificial spurious features, ten domains",
       "https://github.com/kimiyoung/planetoid (data/ind.cora.*)", make_cora},
      {"cora-mix", "Cora with true and spurious features mixed by a bias ratio, ten domains",
       "https://github.com/kimiyoung/planetoid (data/ind.cora.*)", make_cora_mix},
      {"photo", "Amazon Photo co-purchases with artificial spurious features, ten domains",
       "https://github.com/shchur/gnn-benchmark (data/npz/amazon_electronics_photo.npz)",
       make_photo},
      {"twitch", "Twitch friendships in seven regions: does a streamer use explicit language",
       "https://github.com/CUAI/Non-Homophily-Benchmarks (folder twitch)", make_twitch},
      {"fb100", "Facebook friendships at universities in 2005: gender",
       "https://archive.org/details/oxford-2005-facebook-matrix", make_fb100},
      {"elliptic", "Bitcoin transactions in 49 time steps: licit or illicit",
       "https://www.kaggle.com/datasets/ellipticco/elliptic-data-set", make_elliptic},
      {"arxiv", "ogbn-arxiv citations by year: subject area",
       "https://ogb.stanford.edu/docs/nodeprop/#ogbn-arxiv", make_arxiv},
      {"spmotif", "generated graphs: a motif to be told, a base that misleads; needs no file", "",
       make_spmotif, Level::graph},
      {"molhiv", "ogbg-molhiv molecules by scaffold: do they inhibit HIV",
       "https://ogb.stanford.edu/docs/graphprop/#ogbg-mol (the folder hiv, named molhiv)",
       make_molhiv, Level::graph},
      {"graph-sst2", "dependency graphs of sentences with BERT vectors by size: sentiment",
       "https://github.com/divelab/DIG (dig/xgraph: Graph-SST2)", make_graph_sst2, Level::graph},
      {"sst2-tree", "trees of the same sentences with word vectors by size; not Graph-SST2",
       "nowhere as a whole: made from GLUE SST-2, the Stanford treebank and 100-d word vectors",
       make_sst2_tree, Level::graph},
      {"mnist75sp", "handwritten digits as graphs of superpixels; colour noise in the test set",
       "http://yann.lecun.com/exdb/mnist/ (the four *-ubyte.gz files, in a folder mnist)",
       make_mnist75sp, Level::graph},
      {"good-motif", "GOOD's graphs of a base and a motif by base or size; needs no file", "",
       make_good_motif, Level::graph},
      {"good-cbas", "GOOD's houses on a grown graph, nodes coloured; needs no file", "",
       make_good_cbas},
      {"scale", "generated graph of up to a hundred million nodes, for measuring; needs no file",
       "", make_scale},
  };
  return table;
}

const DatasetEntry& find_dataset(const std::string& name) {
  std::vector<std::string> known;
  for (const DatasetEntry& entry : datasets()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  if (const DatasetEntry* entry = memory_entry(name)) return *entry;
  if (is_own_data(name)) return own_entry(name);
  fail(ErrorKind::config,
       "'{}' is not a dataset{}; known: {}; own data is given as a path: ./{} or its dataset.toml",
       name, did_you_mean(name, known), joined(known), name);
}

std::vector<Domain> Dataset::load_unseen(const std::string& path,
                                         const std::vector<std::string>& /*feature_names*/) const {
  throw InternalError(path + ": this dataset reads no unseen graphs");
}

DatasetChoice::DatasetChoice(const DatasetEntry& entry) : entry_(&entry), dataset_(entry.make()) {
  dataset_->declare(options_);
  options_.add("symmetrise", dataset_->symmetrise, "add the reverse of every stored pair");
  options_.choice("centre", dataset_->centre, "subtract each domain's own mean from its features");
}

DatasetChoice::DatasetChoice(const DatasetChoice& other) : DatasetChoice(other.entry()) {
  options_.take_values(other.options_);
}

Task DatasetChoice::load(const DataContext& context) const {
  Task task = dataset_->load(context);
  Treatment treat(dataset_->symmetrise, dataset_->centre);
  for (std::vector<Domain>* domains : {&task.training, &task.validation, &task.test}) {
    for (Domain& domain : *domains) treat(domain);
  }
  check_task(task);
  return task;
}

}  // namespace grm
