#include "interpreter/specification/examples.h"

#include <algorithm>

#include "interpreter/specification/embedded.h"
#include "interpreter/specification/markdown.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::spec {

std::string_view embedded(std::string_view path) {
  const auto files = embedded_files();
  const auto it = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
  return it != files.end() && it->path == path ? it->text : std::string_view();
}

std::string Example::str() const { return join(expectations, "\n") + (expectations.empty() ? "" : "\n") + text; }

Examples::Examples(std::string_view op) : op_(op) {
  const auto path = "tests/ops/" + op_ + ".plumb";
  const auto text = embedded(path);
  if (text.empty()) return;
  module_ = ir::parse(text, path);
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("func @")) continue;
    Example e;
    e.name = lines[i].substr(6, lines[i].find('(') - 6);
    for (; i < lines.size(); ++i) {
      e.text += lines[i] + "\n";
      if (lines[i] == "}") break;
    }
    for (const auto& l : lines)
      for (const char* word : {"// run: @", "// error: @"})
        if (l.starts_with(word + e.name + " ")) e.expectations.push_back(l);
    examples_.push_back(std::move(e));
  }
  join_helpers();
}

/// @f_body, which no line runs, belongs to @f.
void Examples::join_helpers() {
  for (const auto& helper : examples_) {
    if (!helper.expectations.empty()) continue;
    for (auto& e : examples_)
      if (!e.expectations.empty() && helper.name.starts_with(e.name + "_")) e.text += helper.text;
  }
  std::erase_if(examples_, [](const Example& e) { return e.expectations.empty(); });
}

const Example* Examples::find(std::string_view name) const {
  const auto it = std::ranges::find(examples_, name, &Example::name);
  return it == examples_.end() ? nullptr : &*it;
}

const Example* Examples::basic() const {
  if (const auto* own = find(op_)) return own;
  const auto found = use();
  return found ? find(found->function->name) : nullptr;
}

std::optional<Examples::Use> Examples::use() const {
  const auto in = [&](const ir::Function& f) -> std::optional<Use> {
    for (const auto& n : f.nodes)
      if (ir::name(n) == op_) return Use{&f, &n};
    return std::nullopt;
  };
  if (const auto* own = module_.find(op_))
    if (auto u = in(*own)) return u;
  for (const auto& f : module_.functions)
    if (auto u = in(f)) return u;
  return std::nullopt;
}

}  // namespace plumb::spec
