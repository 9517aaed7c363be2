// Cora (Planetoid files) under the artificial shift: features and shift side by side, or mixed.
#include <torch/types.h>

#include "data/binary_rows.h"
#include "data/makers.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "data/spurious.h"
#include "io/planetoid.h"

namespace grm {
namespace {

constexpr int kCoraParser = 1;          // raise when the parsed form changes
constexpr int64_t kSpuriousWidth = 10;  // columns of X2

io::TensorFile parse_cora(const std::string& folder) {
  const io::Planetoid raw = io::read_planetoid(folder, "cora");
  const int64_t n = raw.features.rows();
  io::TensorFile file;
  put_pattern(file, "x",
              binary_rows({folder + "/ind.cora.allx and .tx", n, raw.features.cols,
                           raw.features.offsets, raw.features.indices, raw.features.values})
                  ->in);
  const AdjacencyPtr edges =
      adjacency_of_file(folder + "/ind.cora.graph", n, n, raw.source, raw.target);
  put_pattern(file, "edges", without_self_loops(*edges)->in);
  return file;
}

class Cora : public Dataset {
 public:
  void declare(OptionList& list) override { shift_.declare(list); }

  std::vector<std::string> files() const override {
    return {"cora/ind.cora.allx", "cora/ind.cora.ally",  "cora/ind.cora.tx",
            "cora/ind.cora.ty",   "cora/ind.cora.graph", "cora/ind.cora.test.index"};
  }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = name();
    Source source{"", Use::all, {}};
    for (const std::string& file : files()) source.files.push_back({file});
    require_sources(context, {source}, task);
    const io::TensorFile file = cached(context, "cora", task.hashes, kCoraParser,
                                       [&] { return parse_cora(full_path(context, "cora")); });
    build(task, get_pattern(file, "edges"), get_pattern(file, "x"));
    return task;
  }

 protected:
  virtual std::string name() const { return "cora"; }
  virtual void build(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x) const {
    add_spurious_domains(task, edges, x, draw(*edges, *x, kSpuriousWidth));
  }
  SpuriousDraw draw(const Adjacency& edges, const Adjacency& x, int64_t width) const {
    return draw_spurious(edges, x, shift_.generator, width,
                         static_cast<uint64_t>(shift_.dataset_seed));
  }

 private:
  SpuriousOptions shift_;
};

class CoraMix final : public Cora {
 public:
  void declare(OptionList& list) override {
    list.add("bias", bias_, {0, 1}, "share r of the spurious part in (1 - r) X1 + r X2");
    Cora::declare(list);
  }

 protected:
  std::string name() const override { return "cora-mix"; }
  void build(Task& task, const AdjacencyPtr& edges, const AdjacencyPtr& x) const override {
    add_mixed_domains(task, edges, x, draw(*edges, *x, x->cols()), bias_);
  }

 private:
  double bias_ = 0.5;
};

}  // namespace

std::unique_ptr<Dataset> make_cora() {
  return std::make_unique<Cora>();
}
std::unique_ptr<Dataset> make_cora_mix() {
  return std::make_unique<CoraMix>();
}

}  // namespace grm
