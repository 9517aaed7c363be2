#pragma once

#include <string>

#include "cli/cli.h"
#include "report/reproduce.h"
#include "study/store.h"

namespace grm::cli {

/// --against, --dataset, --method and --block.
void add_filters(CLI::App& verb, study::TableOptions& options);

/// "text", "markdown" or "latex".
Format table_format(const std::string& name);
/// The table in this format. Text for stdout (not `to_file`) fits its lines, with the best value
/// bold where there is colour.
std::string table_text(const Table& table, Format format, bool to_file);

/// What a study of the database has and lacks; the final runs of a tuned one.
report::Results read_results(const study::Store& store, const std::string& study);

}  // namespace grm::cli
