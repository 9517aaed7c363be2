// Amazon Photo (one .npz of compressed rows) under the artificial shift.
#include <torch/types.h>

#include "data/makers.h"
#include "data/npz_graph.h"
#include "data/parsed_cache.h"
#include "data/sources.h"
#include "data/spurious.h"

namespace grm {
namespace {

constexpr int kPhotoParser = 1;              // raise when the parsed form changes
constexpr int64_t kPhotoSpuriousWidth = 10;  // columns of X2
constexpr char kFile[] = "amazon-photo/amazon_electronics_photo.npz";

class Photo final : public Dataset {
 public:
  void declare(OptionList& list) override { shift_.declare(list); }
  std::vector<std::string> files() const override { return {kFile}; }

  Task load(const DataContext& context) const override {
    Task task;
    task.name = "photo";
    require_sources(context, {{"", Use::all, {{kFile}}}}, task);
    const io::TensorFile file = cached(context, "photo", task.hashes, kPhotoParser, [&] {
      return parse_npz_graph(full_path(context, kFile), false);
    });
    const AdjacencyPtr edges = get_pattern(file, "edges");
    const AdjacencyPtr x = get_pattern(file, "x");
    add_spurious_domains(task, edges, x,
                         draw_spurious(*edges, *x, shift_.generator, kPhotoSpuriousWidth,
                                       static_cast<uint64_t>(shift_.dataset_seed)));
    return task;
  }

 private:
  SpuriousOptions shift_;
};

}  // namespace

std::unique_ptr<Dataset> make_photo() {
  return std::make_unique<Photo>();
}

}  // namespace grm
