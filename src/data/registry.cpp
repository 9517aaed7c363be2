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
namespace {

constexpr char kMoleculeNet[] =
    "https://moleculenet.org/datasets-1 (tables of SMILES and labels), made into columns by "
    "scripts/molecules.py, see docs/good.md";

}  // namespace

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
      {"good-hiv", "GOOD's molecules by scaffold or size: do they inhibit HIV",
       "https://ogb.stanford.edu/docs/graphprop/#ogbg-mol (the folder hiv, named molhiv); "
       "scaffolds "
       "by scripts/molecules.py, see docs/good.md",
       make_good_hiv, Level::graph},
      {"good-pcba", "GOOD's molecules by scaffold or size: active in 128 assays",
       "https://ogb.stanford.edu/docs/graphprop/#ogbg-mol (the folder pcba); scaffolds by "
       "scripts/molecules.py, see docs/good.md",
       make_good_pcba, Level::graph},
      {"good-cmnist", "GOOD's coloured digits on our superpixels, by colour of digit or background",
       "http://yann.lecun.com/exdb/mnist/ (the four *-ubyte.gz files, in a folder mnist)",
       make_good_cmnist, Level::graph},
      {"good-webkb", "GOOD's web pages of three universities; class numbers differ between them",
       "https://github.com/bingzhewei/geom-gcn (new_data/cornell, texas, wisconsin, in a folder "
       "webkb)",
       make_good_webkb},
      {"webkb", "web pages of three universities, a domain each, classes matched: kind of page",
       "https://github.com/bingzhewei/geom-gcn (new_data/cornell, texas, wisconsin, in a folder "
       "webkb)",
       make_webkb},
      {"good-twitch", "GOOD's Twitch friendships by language, raw features: explicit language",
       "https://github.com/CUAI/Non-Homophily-Benchmarks (folder twitch)", make_good_twitch},
      {"good-sst2", "GOOD's sentences by length: sentiment",
       "https://github.com/divelab/DIG (dig/xgraph: Graph-SST2)", make_good_sst2, Level::graph},
      {"good-twitter", "GOOD's tweets by length: sentiment in three classes",
       "https://github.com/divelab/DIG (dig/xgraph: Graph-Twitter)", make_good_twitter,
       Level::graph},
      {"good-cora", "GOOD's citations of all of Cora by degree or words: subject in 70 classes",
       "https://github.com/abojchevski/graph2gauss (data/cora.npz, in a folder cora-full)",
       make_good_cora},
      {"good-arxiv", "GOOD's ogbn-arxiv citations by degree or year: subject area",
       "https://ogb.stanford.edu/docs/nodeprop/#ogbn-arxiv", make_good_arxiv},
      {"drugood-ec50", "DrugOOD's ligands by assay, scaffold or size: are they active",
       "https://github.com/yangnianzu0515/MoleOOD (DrugOOD/data/ec50/lbap_core_ec50_*.json); "
       "tables by "
       "scripts/molecules.py, see docs/good.md",
       make_drugood_ec50, Level::graph},
      {"bace", "MoleculeNet's molecules by scaffold: do they inhibit beta-secretase 1",
       kMoleculeNet, make_bace, Level::graph},
      {"bbbp", "MoleculeNet's molecules by scaffold: do they pass into the brain", kMoleculeNet,
       make_bbbp, Level::graph},
      {"clintox", "MoleculeNet's drugs by scaffold: approved, and toxic in trials; two tasks",
       kMoleculeNet, make_clintox, Level::graph},
      {"sider", "MoleculeNet's drugs by scaffold: side effects; 27 tasks", kMoleculeNet, make_sider,
       Level::graph},
      {"tox21", "MoleculeNet's molecules by scaffold: toxic in 12 assays", kMoleculeNet, make_tox21,
       Level::graph},
      {"nci1", "molecules by size: active against lung cancer cells",
       "https://github.com/muhanzhang/pytorch_DGCNN (data/NCI1/NCI1.txt, in a folder tu)",
       make_nci1, Level::graph},
      {"nci109", "molecules by size: active against ovarian cancer cells",
       "https://github.com/muhanzhang/pytorch_DGCNN (data/NCI109/NCI109.txt, in a folder tu)",
       make_nci109, Level::graph},
      {"proteins", "proteins by size: enzyme or not",
       "https://github.com/muhanzhang/pytorch_DGCNN (data/PROTEINS/PROTEINS.txt, in a folder tu)",
       make_proteins, Level::graph},
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
       "'{}' is not a dataset{}; 'grm data list' shows all; own data is given as a path: ./{} or "
       "its "
       "dataset.toml",
       name, did_you_mean(name, known), name);
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
  if (task.training.front().graph.parted &&
      (dataset_->symmetrise || dataset_->centre != Centring::none)) {
    fail(ErrorKind::config,
         "{} is in parts, so symmetrise and centre cannot be set any more; give them to 'grm data "
         "convert --mapped', and cut what it writes",
         task.name);
  }
  for (std::vector<Domain>* domains : {&task.training, &task.validation, &task.test}) {
    for (Domain& domain : *domains) treat(domain);
  }
  check_task(task);
  return task;
}

}  // namespace grm
