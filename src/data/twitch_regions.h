#pragma once

#include <map>
#include <string>

#include "data/sources.h"
#include "grm/data/task.h"

namespace grm {

/// One region of the Twitch graphs: musae_X_target.csv, musae_X_edges.csv, musae_X_features.json.
Source twitch_region(const std::string& region, Use use);
/// What both datasets of these graphs ask.
Task twitch_task(const std::string& name);
/// "twitch/DE/musae_DE_" + part.
std::string twitch_file(const std::string& region, const std::string& part);

/// The graph of a region as its files have it. `stem` is their path up to "target.csv" and so on.
Domain read_twitch_region(const std::string& name, const std::string& stem);
/// The same through the cache, of a source whose files were found.
Domain cached_twitch_region(const DataContext& context, const Source& source,
                            const std::map<std::string, std::string>& hashes);

}  // namespace grm
