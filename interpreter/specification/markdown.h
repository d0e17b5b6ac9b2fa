// Words of Markdown that the document is made of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace plumb::spec {

using Cells = std::vector<std::string>;

/// A table; bars and line ends inside cells are taken care of. Nothing when there are no rows.
std::string table(const Cells& head, const std::vector<Cells>& rows);
/// A fenced block; the text ends with a line end or gets one.
std::string fenced(std::string_view text);
std::string code(std::string_view text);
/// A place to link to.
std::string anchor(std::string_view name);
std::string link(std::string_view text, std::string_view to);
/// The anchor that renderers give a heading: lower case, blanks become hyphens, punctuation goes.
std::string slug(std::string_view heading);

struct Heading {
  int level = 1;
  std::string text;
};
/// Headings outside of fenced blocks, in order.
std::vector<Heading> headings(std::string_view markdown);

std::vector<std::string> lines_of(std::string_view text);
/// Strings with something between.
std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace plumb::spec
