#pragma once

#include <string>

#include "cli.h"
#include "grm/report/reproduce.h"
#include "grm/study/store.h"

namespace grm::cli {

/// --against, --dataset, --method and --block.
void add_filters(CLI::App& verb, study::TableOptions& options);

/// "text", "markdown" or "latex".
/// The table in this format. Text for stdout (not `to_file`) fits its lines, with the best value
/// bold where there is colour.
std::string layout_text(const study::Layout& layout, study::Format format, bool to_file);

study::Format layout_format(const std::string& name);

/// What a study of the database has and lacks; the final runs of a tuned one.
report::Results read_results(const study::Store& store, const std::string& study);

}  // namespace grm::cli
