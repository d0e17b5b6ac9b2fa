#include "interpreter/specification/markdown.h"

#include <algorithm>

namespace plumb::spec {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> r;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    r.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return r;
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string r;
  for (std::size_t i = 0; i < parts.size(); ++i) r += (i ? std::string(between) : "") + parts[i];
  return r;
}

namespace {
std::string cell(std::string_view text) {
  std::string r;
  for (char c : text)
    if (c == '|') r += "\\|";
    else r += c == '\n' ? ' ' : c;
  return r;
}
std::string row_of(const Cells& cells) {
  std::string r = "|";
  for (const auto& c : cells) r += " " + cell(c) + " |";
  return r + "\n";
}
}  // namespace

std::string table(const Cells& head, const std::vector<Cells>& rows) {
  if (rows.empty()) return {};
  std::string r = row_of(head) + "|";
  for (std::size_t i = 0; i < head.size(); ++i) r += " --- |";
  r += "\n";
  for (const auto& cells : rows) r += row_of(cells);
  return r + "\n";
}

std::string fenced(std::string_view text) {
  return "```\n" + std::string(text) + (text.ends_with('\n') ? "" : "\n") + "```\n\n";
}
std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }
std::string anchor(std::string_view name) { return "<a id=\"" + std::string(name) + "\"></a>"; }
std::string link(std::string_view text, std::string_view to) { return "[" + std::string(text) + "](#" + std::string(to) + ")"; }

std::string slug(std::string_view heading) {
  std::string r;
  for (char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (c == ' ') r += '-';
    else if ((c >= 'A' && c <= 'Z')) r += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || u >= 0x80) r += c;
  }
  return r;
}

std::vector<Heading> headings(std::string_view markdown) {
  std::vector<Heading> r;
  bool inside = false;
  for (const auto& line : lines_of(markdown)) {
    if (line.starts_with("```")) inside = !inside;
    const auto level = std::min(line.find_first_not_of('#'), line.size());
    if (!inside && level > 0 && level < line.size() && line[level] == ' ') r.push_back({static_cast<int>(level), line.substr(level + 1)});
  }
  return r;
}

}  // namespace plumb::spec
