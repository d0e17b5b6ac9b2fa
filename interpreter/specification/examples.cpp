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

namespace {

/// @f_body, which no line runs, belongs to @f.
void join_helpers(std::vector<Example>& examples) {
  for (const auto& helper : examples) {
    if (!helper.expectations.empty()) continue;
    for (auto& e : examples)
      if (!e.expectations.empty() && helper.name.starts_with(e.name + "_")) e.text += helper.text;
  }
  std::erase_if(examples, [](const Example& e) { return e.expectations.empty(); });
}

std::vector<Example> examples_of_text(std::string_view text) {
  std::vector<Example> r;
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
    r.push_back(std::move(e));
  }
  join_helpers(r);
  return r;
}

}  // namespace

const std::vector<TestFile>& test_files() {
  static const auto all = [] {
    std::vector<TestFile> r;
    for (const auto& f : embedded_files())
      if (f.path.starts_with("tests/ops/")) r.push_back({f.path, ir::parse(f.text, f.path), examples_of_text(f.text)});
    return r;
  }();
  return all;
}

const Example* TestFile::find(std::string_view name) const {
  const auto it = std::ranges::find(examples, name, &Example::name);
  return it == examples.end() ? nullptr : &*it;
}

Examples::Examples(std::string_view op) : op_(op) {
  for (const auto& f : test_files()) files_.push_back(&f);
  const auto path = "tests/ops/" + op_ + ".plumb";
  std::ranges::stable_partition(files_, [&](const TestFile* f) { return f->path == path; });
  own_file_ = !files_.empty() && files_[0]->path == path;
}

const Example* Examples::find(std::string_view name) const {
  for (const auto* f : files_)
    if (const auto* e = f->find(name)) return e;
  return nullptr;
}

const Example* Examples::basic() const {
  const auto found = use();
  if (!found) return nullptr;
  const auto& name = found->function->name;
  const bool about_it = (own_file_ && found->file == files_[0]) || name == op_ || name.starts_with(op_ + "_e");
  return about_it ? found->file->find(name) : nullptr;
}

std::optional<Examples::Use> Examples::use() const {
  const auto of = [&](auto wanted) -> std::optional<Use> {
    for (const auto* file : files_)
      for (const auto& f : file->module.functions)
        for (const auto& n : f.nodes)
          if (ir::name(n) == op_ && wanted(f.name) && file->find(f.name)) return Use{file, &f, &n};
    return std::nullopt;
  };
  if (const auto own = of([&](const std::string& name) { return name == op_; })) return own;
  if (const auto edge = of([&](const std::string& name) { return name.starts_with(op_ + "_e"); })) return edge;
  return of([](const std::string&) { return true; });
}

}  // namespace plumb::spec
