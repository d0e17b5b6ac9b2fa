#include "interpreter/specification/document.h"

#include <algorithm>
#include <set>

#include "interpreter/specification/embedded.h"
#include "interpreter/specification/markdown.h"
#include "interpreter/specification/sections.h"
#include "ir/support/error.h"
#include "ir/support/small_vector.h"
#include "ir/tensor/op_table.h"

namespace plumb::spec {

std::string leading_comment(std::string_view path) {
  std::string r;
  for (const auto& line : lines_of(embedded(path))) {
    if (!line.starts_with("//")) break;
    r += line.substr(std::min<std::size_t>(line.size(), line.starts_with("// ") ? 3 : 2)) + "\n";
  }
  return fenced(r);
}

std::string index() {
  std::vector<Cells> rows;
  const auto first_sentence = [](std::string_view doc) { return std::string(doc.substr(0, std::min(doc.find(". "), doc.size() - (doc.ends_with('.') ? 1 : 0)))); };
  for (std::size_t op = 0; op < ir::op_count(); ++op) {
    const auto& r = ir::row(static_cast<ir::OpCode>(op));
    rows.push_back({link(r.name, r.name), first_sentence(r.doc)});
  }
  std::ranges::sort(rows);
  return table({"Operation", ""}, rows);
}

namespace {

std::string expand(std::string_view path);

/// What a line {{word argument}} stands for.
std::string directive(const std::string& word, const std::string& argument) {
  if (word == "include") return expand(argument);
  if (word == "comment") return leading_comment(argument);
  if (word == "dtypes") return dtypes();
  if (word == "operations") return operations();
  if (word == "functions") return functions();
  if (word == "index") return index();
  if (word == "rank") return "A tensor has at most " + std::to_string(max_rank) + " axes.\n";
  if (word == "version") return "Version " PLUMB_VERSION "\n";
  if (word == "contents") return "{{contents}}\n";   // once the headings are known
  fail_internal("the specification has no part '" + word + "'");
}

/// A fragment with its directives replaced.
std::string expand(std::string_view path) {
  const auto text = embedded(path);
  if (text.empty()) fail_internal("the specification lacks " + std::string(path));
  std::string r;
  for (const auto& line : lines_of(text)) {
    if (!line.starts_with("{{") || !line.ends_with("}}")) {
      r += line + "\n";
      continue;
    }
    const auto inner = line.substr(2, line.size() - 4);
    const auto blank = std::min(inner.find(' '), inner.size());
    r += directive(inner.substr(0, blank), inner.substr(std::min(blank + 1, inner.size())));
  }
  return r;
}

/// One blank line between blocks, none twice, and one around each heading; fenced text stays as it is.
std::string tidied(std::string_view text) {
  std::string r;
  bool inside = false;
  for (const auto& line : lines_of(text)) {
    const bool heading = !inside && line.starts_with('#');
    if (line.starts_with("```")) inside = !inside;
    if (heading && !r.empty() && !r.ends_with("\n\n")) r += "\n";
    if (inside || !line.empty() || !r.ends_with("\n\n")) r += line + "\n";
  }
  while (r.ends_with("\n\n")) r.pop_back();
  return r;
}

/// Chapters, their sections, and under these the operations in one line.
std::string contents(const std::vector<Heading>& all) {
  std::string r;
  bool running = false;
  for (const auto& h : all) {
    if (h.level < 2 || h.level > 4 || h.text == "Contents") continue;
    const auto to = link(h.text, slug(h.text));
    if (h.level == 4) r += running ? ", " + to : "    - " + to;
    else r += (running ? "\n" : "") + std::string(h.level == 2 ? "- " : "  - ") + to + "\n";
    running = h.level == 4;
  }
  return r + (running ? "\n" : "");
}

}  // namespace

std::string document() {
  auto text = expand("interpreter/specification/outline.md");
  const auto all = headings(text);
  std::set<std::string> seen;
  for (const auto& h : all)
    if (!seen.insert(slug(h.text)).second) fail_internal("two headings of the specification read '" + h.text + "'");
  const std::string_view mark = "{{contents}}\n";
  if (const auto at = text.find(mark); at != text.npos) text.replace(at, mark.size(), contents(all));
  return tidied(text);
}

}  // namespace plumb::spec
