#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text of users in the places where it could do harm: terminals, JSON, spreadsheets.
namespace grm {

/// UTF-8 text; bytes that are none become \xNN, as a shell's $'...' writes them.
std::string utf8_text(std::string_view text);
bool is_utf8(std::string_view text);

/// Text for a terminal: characters that move the cursor, change colours or reverse the direction of
/// reading are written as \x1b or \u202e instead of being obeyed. Line ends and tabs stay.
std::string terminal_text(std::string_view text);

/// One cell of a CSV file, in quotes where it must be. Text that a spreadsheet would take for a
/// formula (it begins with = + - @, a tab or a line end, and is no number) gets a ' in front.
std::string csv_cell(const std::string& text);

/// The words in one text.
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

}  // namespace grm
