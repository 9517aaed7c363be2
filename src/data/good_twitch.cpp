// GOOD-Twitch (Gui, Li, Wang, Ji: GOOD, NeurIPS 2022): six regions as one graph, cut by language. The
// benchmark's features are an embedding whose making is not published; here they are the publisher's
// own indicators, and two accounts that the French files hold twice count once. So the languages of
// every subset are GOOD's, the members inside of a language are not.
#include <torch/types.h>

#include "data/good/protocol.h"
#include "data/joined_graph.h"
#include "data/makers.h"
#include "data/twitch_regions.h"

namespace grm {
namespace {

// German, English, Spanish, French, Portuguese, Russian: GOOD's order.
const std::vector<std::string> kLanguages = {"DE", "ENGB", "ES", "FR", "PTBR", "RU"};
constexpr good::PlainLaw kPlain = {0.4, 0.7};
constexpr double kTrainShare = 0.6, kValidationShare = 0.2;

std::vector<Source> language_sources() {
  std::vector<Source> all;
  for (const std::string& language : kLanguages) all.push_back(twitch_region(language, Use::all));
  return all;
}

class GoodTwitch final : public Dataset {
 public:
  void declare(OptionList& list) override { protocol_.declare(list, Level::node); }
  std::vector<std::string> files() const override { return paths_of(language_sources()); }

  Task load(const DataContext& context) const override {
    Task task = twitch_task("good-twitch");
    std::vector<Domain> regions;
    std::vector<int64_t> language;
    for (const Source& source : require_sources(context, language_sources(), task)) {
      const auto number = static_cast<int64_t>(regions.size());
      regions.push_back(cached_twitch_region(context, source, task.hashes));
      language.insert(language.end(), static_cast<size_t>(regions.back().graph.nodes()), number);
    }
    Domain all = joined(regions, task.name);
    all.graph.edges = with_self_loops(*symmetrised(*all.graph.edges));
    good::CovariateLaw law;
    law.train = kTrainShare;
    law.validation = kValidationShare;
    const good::Split split =
        good::split_of_nodes(protocol_.shift, language, good::numbers_of(all.labels.y), kPlain, law,
                             good::kConceptOfTwitch);
    const bool named = protocol_.shift == good::Shift::covariate;
    protocol_.add_nodes(task, split, all, named ? kLanguages : std::vector<std::string>{});
    task.notes.push_back(
        "raw features: the benchmark's are an embedding of 128 numbers that nobody else can make, "
        "so "
        "published numbers are no comparison");
    return task;
  }

 private:
  good::Protocol protocol_;
};

}  // namespace

std::unique_ptr<Dataset> make_good_twitch() {
  return std::make_unique<GoodTwitch>();
}

}  // namespace grm
