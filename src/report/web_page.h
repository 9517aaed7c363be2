#pragma once

#include <string>
#include <vector>

#include "core/embedded.h"

// The page of web/, with a document in it or as files that a server hands out.
namespace grm::report {

/// The files of web/: modules, style sheet, index.html.
const std::vector<EmbeddedFile>& web_files();

/// One HTML file that opens without a network: the page, its code and a document of
/// report_document(). `plain` is HTML that is shown where scripts are switched off. Its content
/// security policy lets the one script and the one style sheet run and loads nothing.
std::string offline_page(const std::string& title, const std::string& document,
                         const std::string& plain);

/// The modules that `entry` imports, and it, as one script: in the order of need, without the lines
/// that import and the words that export. InternalError for an import that is not there.
std::string bundled(const std::vector<EmbeddedFile>& files, const std::string& entry);

}  // namespace grm::report
