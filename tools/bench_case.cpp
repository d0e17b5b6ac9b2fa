#include "tools/bench_case.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "interpreter/specification/embedded.h"
#include "ir/files/files.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"
#include "tools/cli.h"
#include "tools/random.h"

namespace plumb::tools {
namespace {

constexpr std::string_view folder = "bench/programs/", extension = ".plumb";

/// The comment lines at a program's head.
struct Head {
  std::string what;
  std::map<std::string, std::map<std::string, std::int64_t>> sizes;   ///< by target
  std::map<std::string, std::int64_t> below;                          ///< by parameter
};

std::map<std::string, std::int64_t> sizes_from(const std::string& words, const std::string& where) {
  std::map<std::string, std::int64_t> sizes;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) fail_input(where + ": sizes are stated as NAME=SIZE, not '" + word + "'");
    sizes[word.substr(0, equals)] = static_cast<std::int64_t>(seed_from(where + ": the size " + word.substr(0, equals), word.substr(equals + 1)));
  }
  return sizes;
}

Head head_of(std::string_view text, const std::string& where) {
  Head h;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line) && line.starts_with("// ");) {
    const auto said = line.substr(3);
    const auto colon = said.find(':');
    const auto target = said.substr(0, colon == std::string::npos ? 0 : colon);
    if (target == "cpu" || target == "cuda") h.sizes[target] = sizes_from(said.substr(colon + 1), where);
    else if (target == "below") h.below = sizes_from(said.substr(colon + 1), where);
    else if (h.what.empty()) h.what = said;
  }
  return h;
}

/// A device's number does not change a program's sizes.
std::string kind_of(const std::string& target) { return target.starts_with("cuda") ? "cuda" : "cpu"; }

double contraction_flops(const ir::Function& f) {
  double flops = 0;
  for (const auto& n : f.nodes) {
    const auto name = ir::name(n);
    if (name != "dot_general" && name != "convolution") continue;
    const auto& lhs = f.type(n.operands[0]);
    const auto& rhs = f.type(n.operands[1]);
    auto terms = 1.0;
    if (name == "convolution") terms = static_cast<double>(rhs.elements()) / static_cast<double>(std::max<std::int64_t>(rhs.extents()[0], 1));
    else
      for (const auto axis : n.attrs.ints("lhs_contract")) terms *= static_cast<double>(lhs.extents()[static_cast<std::size_t>(axis)]);
    flops += 2 * terms * static_cast<double>(f.type(n.results[0]).elements());
  }
  return flops;
}

/// The program of that name for the target alone, or for all.
std::string_view built_in(const std::string& name, const std::string& target) {
  for (const auto& within : {kind_of(target) + "/", std::string()})
    if (const auto text = spec::embedded(std::string(folder) + within + name + std::string(extension)); !text.empty()) return text;
  return {};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> bench_cases(const std::string& target) {
  std::vector<std::pair<std::string, std::string>> cases;
  for (const auto& file : spec::embedded_files()) {
    if (!file.path.starts_with(folder)) continue;
    auto name = std::string(file.path.substr(folder.size(), file.path.size() - folder.size() - extension.size()));
    const auto slash = name.find('/');
    if (slash != std::string::npos && name.substr(0, slash) != kind_of(target)) continue;
    cases.emplace_back(slash == std::string::npos ? name : name.substr(slash + 1), head_of(file.text, std::string(file.path)).what);
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

BenchCase bench_case(const std::string& word, const std::string& target, const std::map<std::string, std::int64_t>& dims) {
  const auto stored = built_in(word, target);
  if (stored.empty() && !std::filesystem::exists(word)) fail_input("there is no benchmark '" + word + "' and no file of that name; plumb bench --list names the benchmarks");
  const auto text = stored.empty() ? ir::read_file(word) : std::string(stored);
  const auto head = head_of(text, word);
  auto module = ir::parse(text, word);
  auto sizes = dims;
  for (const auto& stated : {kind_of(target), std::string("cpu"), std::string("cuda")})
    if (const auto it = head.sizes.find(stated); it != head.sizes.end()) {
      sizes.insert(it->second.begin(), it->second.end());
      break;
    }
  BenchCase c;
  c.name = stored.empty() ? std::filesystem::path(word).stem().string() : word;
  c.what = head.what;
  for (auto v : module.entry().params) {
    auto t = module.entry().type(v);
    for (auto& d : t.shape)
      if (d.is_symbol()) {
        const auto symbol = ir::symbol_name(d.symbol());
        const auto it = sizes.find(symbol);
        if (it == sizes.end()) fail_input(word + ": the size " + symbol + " is not stated; give --dim " + symbol + "=SIZE");
        d = it->second;
      }
    c.inputs.push_back(t);
    const auto limit = head.below.find(module.entry().value(v).name);
    c.below.push_back(limit == head.below.end() ? 4 : limit->second);
    if (c.below.back() < 1) fail_input(word + ": integers below " + std::to_string(c.below.back()) + " are none");
  }
  c.module = ir::specialize(module, ir::bind_symbols(module.entry(), c.inputs));
  const auto& f = c.module.entry();
  for (const auto& t : c.inputs) c.bytes += static_cast<double>(t.bytes());
  for (auto r : f.results) c.bytes += static_cast<double>(f.type(r).bytes());
  c.flops = contraction_flops(f);
  return c;
}

std::vector<ir::Literal> bench_values(const BenchCase& c) {
  std::vector<ir::Literal> values;
  for (std::size_t k = 0; k < c.inputs.size(); ++k) {
    const auto parts = ir::parts_type(c.inputs[k]);
    if (is_bool(parts.dtype)) {
      values.push_back(random_literal(parts, k));
      continue;
    }
    ir::Literal l(parts);
    for (std::int64_t i = 0; i < l.elements(); ++i) {
      const auto at = (k << 48) + 2 * static_cast<std::uint64_t>(i);
      const std::uint64_t a = mix(at), b = mix(at + 1);
      // Four even numbers of 32 bits: their sum's standard deviation is 2^32 / sqrt 3.
      const auto sum = static_cast<std::int64_t>((a >> 32) + (a & 0xffffffffU) + (b >> 32) + (b & 0xffffffffU)) - (std::int64_t{1} << 33);
      const double v = is_integer(parts.dtype) ? static_cast<double>(a % static_cast<std::uint64_t>(c.below[k])) : static_cast<double>(sum) * (1.7320508075688772 * 0x1p-32);
      store_element(parts.dtype, l.mutable_raw(), i, v);
    }
    values.push_back(l.viewed_as(c.inputs[k]));
  }
  return values;
}

}  // namespace plumb::tools
