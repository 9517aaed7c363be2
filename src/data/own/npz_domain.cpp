// One domain as NumPy and PyTorch Geometric users write it: edge_index, x, y and what goes with it.
#include <algorithm>
#include <cmath>

#include "data/own/npz_arrays.h"
#include "data/own/targets.h"

namespace grm::own {
namespace {

class NpzReader {
 public:
  NpzReader(const ReadContext& context, const std::string& path)
      : context_(context),
        arrays_(path, context.problems),
        by_graph_(context.d.level == Level::graph) {}

  RawDomain read(const std::string& name) {
    const int64_t before = context_.problems.count();
    raw_.name = name;
    raw_.file = arrays_.path();
    read_nodes();
    read_edges();  // what is wrong with them can be told without the rest
    if (raw_.nodes > 0 && raw_.level() == context_.d.level) read_labels();
    context_.problems.stop_if_more_than(before);
    warn_of_unused();
    return std::move(raw_);
  }

 private:
  // Arrays that are there and make no difference: often they were meant to.
  void warn_of_unused() {
    for (const std::string& name : arrays_.unused()) {
      std::string why, fix = "leave it out, or put its columns into x";
      if (name == "train_mask" || name == "val_mask" || name == "test_mask") {
        if (context_.purpose == Purpose::prediction || context_.d.split == Split::masks) continue;
        why = ": dataset.toml says what a domain is for, as a whole";
        fix = "write split = \"masks\" in dataset.toml, so that they divide the domain";
      } else if (name == "time" && context_.d.split == Split::time) {
        continue;
      } else if (name == "y" || name == "mask" || name == "loss_mask" || name == "eval_mask") {
        if (context_.purpose == Purpose::prediction) continue;
      }
      context_.problems.warn(
          {arrays_.path(), 0, 0, fmt::format("array '{}' is not used{}", shown(name), why), fix});
    }
  }

  void read_nodes() {
    const int64_t before = context_.problems.count();
    raw_.x = arrays_.features("x", context_.d.missing, !by_graph_, &raw_.x_sparse);
    if (!raw_.x.sparse && !raw_.x.dense.defined()) {
      if (context_.problems.count() > before) return;
      if (arrays_.has("x")) {
        arrays_.problem("array 'x' has no column", "save a constant one where there are none");
      } else {
        arrays_.need("x", 2, "save the features of the nodes as x [nodes, features]");
      }
      return;
    }
    raw_.nodes = raw_.x.rows();
    if (raw_.nodes == 0) arrays_.problem("array 'x' has no row", "a domain needs nodes");
    if (raw_.nodes > 0) read_parts();
  }

  void read_parts() {
    if (!by_graph_) {
      if (arrays_.has("graph")) {
        arrays_.problem("array 'graph' tells graphs apart, but the level is node",
                        "write level = \"graph\" in dataset.toml, or leave the array out");
      }
      return;
    }
    if (!arrays_.has("graph")) {
      arrays_.need("graph", 1,
                   arrays_.has("batch")
                       ? "save 'batch' under the name 'graph'"
                       : "save the number of each node's graph, 0, 0, 0, 1, 1, ..., as graph");
      return;
    }
    const torch::Tensor graph = arrays_.whole_numbers("graph", raw_.nodes);
    if (!graph.defined()) return;
    const int64_t* g = graph.data_ptr<int64_t>();
    std::vector<int64_t> part = {0};
    for (int64_t i = 0; i < raw_.nodes; ++i) {
      const auto current = static_cast<int64_t>(part.size()) - 1;
      if (i == 0 ? g[0] == 0 : g[i] == current) continue;
      if (i > 0 && g[i] == current + 1) {
        part.push_back(i);
        continue;
      }
      const bool back = i > 0 && g[i] < current;
      arrays_.problem(fmt::format("graph[{}] is {} after {}{}", i, g[i], i == 0 ? -1 : g[i - 1],
                                  back ? ": graphs must not interleave" : ""),
                      back ? "sort the nodes by graph, and renumber the ends of edges"
                           : "number the graphs 0, 1, 2, ... without a gap");
      return;
    }
    part.push_back(raw_.nodes);
    raw_.parts = torch::tensor(part, torch::kInt64);
  }

  void read_edges() {
    if (!arrays_.need("edge_index", 2, "save the edges as edge_index [2, edges]")) return;
    const torch::Tensor pairs = arrays_.find("edge_index", 2);
    if (pairs.is_floating_point()) {
      return arrays_.problem("edge_index holds floating-point numbers",
                             "save edge_index.astype(\"int64\")");
    }
    if (pairs.size(0) != 2) {
      return arrays_.problem(
          fmt::format("edge_index has the shape [{}, {}], two rows are needed: sources, targets",
                      pairs.size(0), pairs.size(1)),
          pairs.size(1) == 2 ? "save edge_index.T" : "see 'grm data init'");
    }
    const torch::Tensor plain = pairs.to(torch::kInt64);
    raw_.source = plain[0].contiguous();
    raw_.target = plain[1].contiguous();
    if (raw_.nodes > 0) check_ends();
    const int64_t edges = raw_.source.numel();
    const int64_t before = context_.problems.count();
    raw_.edge_x = arrays_.features("edge_attr", context_.d.missing);
    const bool featured = raw_.edge_x.sparse || raw_.edge_x.dense.defined();
    if (context_.problems.count() == before && featured && raw_.edge_x.rows() != edges) {
      arrays_.problem(fmt::format("edge_attr has {} rows for {} edges", raw_.edge_x.rows(), edges),
                      "every edge needs one row");
    }
    raw_.weights = arrays_.numbers("edge_weight", edges);
    if (!by_graph_ && raw_.weights.defined() && raw_.weights.lt(0).any().item<bool>()) {
      const int64_t at = torch::nonzero(raw_.weights.lt(0))[0].item<int64_t>();
      arrays_.problem(fmt::format("edge_weight[{}] is {}, which is negative", at,
                                  raw_.weights[at].item<double>()),
                      "weights of edges between nodes are 0 or more; save a signed quantity as a "
                      "column of edge_attr");
    }
    const torch::Tensor truth = arrays_.mask("edge_truth", edges);
    if (truth.defined()) raw_.truth = truth.to(torch::kUInt8);
  }

  void check_ends() {
    const int64_t* s = raw_.source.data_ptr<int64_t>();
    const int64_t* t = raw_.target.data_ptr<int64_t>();
    const int64_t* part = raw_.level() == Level::graph ? raw_.parts.data_ptr<int64_t>() : nullptr;
    int64_t outside = 0, first_outside = -1, across = 0, first_across = -1, largest = 0;
    bool zero = false;
    for (int64_t k = 0; k < raw_.source.numel(); ++k) {
      zero = zero || s[k] == 0 || t[k] == 0;
      largest = std::max({largest, s[k], t[k]});
      if (std::min(s[k], t[k]) < 0 || std::max(s[k], t[k]) >= raw_.nodes) {
        if (outside++ == 0) first_outside = k;
      } else if (part) {
        const int64_t* next = std::upper_bound(part, part + raw_.parts.numel(), s[k]);
        if (t[k] >= *(next - 1) && t[k] < *next) continue;
        if (across++ == 0) first_across = k;
      }
    }
    if (outside > 0) {
      arrays_.problem(
          fmt::format("edge {} is {} -> {}, but the nodes are 0..{}; {} such edges in "
                      "all",
                      first_outside, s[first_outside], t[first_outside], raw_.nodes - 1, outside),
          !zero && largest == raw_.nodes ? "count nodes from 0: save edge_index - 1"
                                         : "ends of edges are rows of x");
    }
    if (across > 0) {
      arrays_.problem(fmt::format("edge {} is {} -> {}, which leaves its graph; {} such edges in "
                                  "all",
                                  first_across, s[first_across], t[first_across], across),
                      "ends of edges are rows of x, counted through all graphs of the file");
    }
  }

  void read_labels() {
    const int64_t items = raw_.items();
    if (!arrays_.has("y") && context_.purpose == Purpose::prediction) return;
    const bool classes = context_.d.target == Target::classes;
    if (classes) {
      if (!arrays_.need("y", 1, "save the classes of the nodes or graphs as y")) return;
      raw_.y = arrays_.labels("y", items);
      if (!raw_.y.defined()) return;
    } else {
      raw_.targets =
          arrays_.targets("y", items, context_.d.target == Target::multi_label ? 1.0 : 0.0);
      if (!raw_.targets.defined()) return;
    }
    if (context_.purpose == Purpose::training) read_split(items);
    const torch::Tensor unknown = classes ? raw_.y.lt(0) : raw_.targets.isnan().all(1);
    const torch::Tensor both = arrays_.mask("mask", items);
    raw_.loss_mask = arrays_.has("loss_mask") ? arrays_.mask("loss_mask", items) : both;
    raw_.eval_mask = arrays_.has("eval_mask") ? arrays_.mask("eval_mask", items) : both;
    for (const auto& [mask, name] :
         {std::pair<const torch::Tensor*, const char*>{
              &raw_.loss_mask, arrays_.has("loss_mask") ? "loss_mask" : "mask"},
          {&raw_.eval_mask, arrays_.has("eval_mask") ? "eval_mask" : "mask"}}) {
      if (!mask->defined() || (mask == &raw_.eval_mask && mask->is_same(raw_.loss_mask))) continue;
      const torch::Tensor wrong = mask->logical_and(unknown);
      if (!wrong.any().item<bool>()) continue;
      arrays_.problem(
          fmt::format("{}[{}] is set, but y has no label there; {} such in all", name,
                      torch::nonzero(wrong)[0].item<int64_t>(), wrong.sum().item<int64_t>()),
          "clear the mask where y is negative or NaN");
    }
  }

  // PyTorch Geometric's masks, or moments.
  void read_split(int64_t items) {
    if (context_.d.split == Split::masks && arrays_.has("train_mask")) {
      torch::Tensor role = torch::full({items}, -1, torch::kInt64);
      for (const auto& [name, kind] : {std::pair<const char*, Role>{"train_mask", Role::train},
                                       {"val_mask", Role::validation},
                                       {"test_mask", Role::test}}) {
        if (kind == Role::test && !arrays_.has(name)) continue;
        if (!arrays_.need(name, 1,
                          "save it as PyTorch Geometric has it, or write split = \"none\"")) {
          return;
        }
        const torch::Tensor mask = arrays_.mask(name, items);
        if (!mask.defined()) return;
        const torch::Tensor twice = mask.logical_and(role.ge(0));
        if (twice.any().item<bool>()) {
          return arrays_.problem(
              fmt::format("{}[{}] is set, but another mask has the item, too; {} such in all", name,
                          torch::nonzero(twice)[0].item<int64_t>(), twice.sum().item<int64_t>()),
              "an item is for one of training, validation and test");
        }
        role.masked_fill_(mask, static_cast<int64_t>(kind));
      }
      raw_.role = role;
    } else if (context_.d.split == Split::time && context_.d.until.size() == 2 &&
               arrays_.has("time")) {
      const torch::Tensor given = arrays_.find("time", 1);
      if (!given.defined()) return;
      if (given.numel() != items) {
        return arrays_.problem(
            fmt::format("array 'time' has {} entries, {} are needed", given.numel(), items),
            "every node or graph needs one");
      }
      const torch::Tensor time = given.to(torch::kFloat64).contiguous();
      raw_.role = torch::full({items}, -1, torch::kInt64);
      for (int64_t i = 0; i < items; ++i) {
        const double at = time.data_ptr<double>()[i];
        if (std::isnan(at)) continue;  // for nothing
        raw_.role.data_ptr<int64_t>()[i] =
            static_cast<int64_t>(role_of_time(fmt::format("{}", at), context_.d.until));
      }
    }
  }

  const ReadContext& context_;
  NpzArrays arrays_;
  bool by_graph_;
  RawDomain raw_;
};

}  // namespace

RawDomain read_npz_domain(const ReadContext& context, const std::string& path,
                          const std::string& name) {
  return NpzReader(context, path).read(name);
}

}  // namespace grm::own
