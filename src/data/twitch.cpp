// Twitch-Explicit: one graph per region, trained on DE, validated on ENGB.
#include <filesystem>

#include "data/makers.h"
#include "data/twitch_regions.h"

namespace grm {
namespace {

const std::string kTwitchFeatures = "_features.json";

struct Region {
  const char* name;
  Use use;
};
constexpr Region kRegions[] = {{"DE", Use::training}, {"ENGB", Use::validation}, {"ES", Use::test},
                               {"FR", Use::test},     {"PTBR", Use::test},       {"RU", Use::test},
                               {"TW", Use::test}};

std::vector<Source> sources() {
  std::vector<Source> all;
  for (const Region& region : kRegions) all.push_back(twitch_region(region.name, region.use));
  return all;
}

class Twitch final : public Dataset {
 public:
  std::vector<std::string> files() const override { return paths_of(sources()); }

  Task load(const DataContext& context) const override {
    Task task = twitch_task("twitch");
    for (const Source& source : require_sources(context, sources(), task)) {
      add_domain(task, source.use, cached_twitch_region(context, source, task.hashes));
    }
    return task;
  }

  std::string unseen_form() const override {
    return "a folder with musae_X_edges.csv, musae_X_features.json and musae_X_target.csv";
  }
  bool is_unseen_form(const std::string& path) const override {
    return !files_in(path, kTwitchFeatures).empty();
  }
  std::vector<Domain> load_unseen(const std::string& path,
                                  const std::vector<std::string>& /*names*/) const override {
    std::vector<Domain> domains;
    for (const std::string& file : files_in(path, kTwitchFeatures)) {
      const std::string stem = file.substr(0, file.size() - kTwitchFeatures.size() + 1);
      std::string name = std::filesystem::path(stem).filename().string();
      name = name.substr(name.find('_') + 1);  // "musae_NL_" -> "NL_"
      if (!name.empty() && name.back() == '_') name.pop_back();
      domains.push_back(read_twitch_region(name, stem));
    }
    return domains;
  }
};

}  // namespace

std::unique_ptr<Dataset> make_twitch() {
  return std::make_unique<Twitch>();
}

}  // namespace grm
