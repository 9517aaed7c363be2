#pragma once

#include <string>

namespace grm::io {

/// matio trusts a file: it allocates by the sizes that the file declares, and hands out memory it
/// never filled when the data are shorter than that. This check walks the file first (MathWorks,
/// "MAT-File Format", level 5) and throws Error(data) unless
///   - every element lies inside the file and every compressed one inflates to its checksum,
///   - the file holds `name`, a real sparse or numeric matrix of two dimensions whose data have
///     exactly the size that its dimensions ask for,
///   - no cell, structure or object stands before it.
void check_mat_frame(const std::string& path, const std::string& name);

}  // namespace grm::io
