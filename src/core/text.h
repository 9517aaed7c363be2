#pragma once

#include <string>
#include <string_view>
#include <utility>
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

/// Characters that mean something in HTML become entities; control characters and bytes that are
/// no UTF-8 become U+FFFD.
std::string html_escape(const std::string& text);

/// A word as a POSIX shell takes it: in quotes, or only if need be.
std::string shell_quoted(const std::string& text);
std::string shell_word(const std::string& text);

/// Every occurrence of a first text becomes its second one.
std::string replaced(const std::string& text,
                     const std::vector<std::pair<std::string, std::string>>& table);

/// Columns that a UTF-8 text takes on a terminal. Ink (escape sequences) takes no room.
size_t shown_width(const std::string& text);
/// Lines of at most `width` columns (0: one line), cut between words where there are any.
std::vector<std::string> wrapped(const std::string& text, size_t width);
/// The text cut to `width` columns, with "..." at its end if something was cut.
std::string shortened(const std::string& text, size_t width);

/// The words in one text.
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

}  // namespace grm
