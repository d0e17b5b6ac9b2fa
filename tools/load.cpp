// Programs and tensors from files, and random tensors.
#include <cmath>
#include <filesystem>

#include "ir/files/files.h"
#include "ir/files/npy.h"
#include "ir/files/npz.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"
#include "tools/cli.h"

namespace plumb::tools {

namespace fs = std::filesystem;

Source::Source(const std::string& path) {
  if (!fs::exists(path)) fail_input("there is no file " + path);
  if (fs::is_directory(path)) fail_input(path + " is a folder without model.onnx");
  const auto extension = fs::path(path).extension();
  if (extension == ".onnx") onnx_ = std::make_unique<ir::OnnxModel>(ir::OnnxModel::load(path));
  else if (extension == ".plumb") module_ = ir::parse_file(path);
  else fail_input(path + ": a program is a .onnx or a .plumb file");
}

std::vector<std::string> Source::parameter_names() const {
  std::vector<std::string> names;
  if (onnx_)
    for (const auto& i : onnx_->inputs()) names.push_back(i.name);
  else
    for (auto v : module_.entry().params) names.push_back(module_.entry().value(v).name);
  return names;
}

std::string Source::signature() const {
  std::string s;
  if (onnx_)
    for (const auto& i : onnx_->inputs()) s += (s.empty() ? "" : ", ") + i.name + ": " + i.str();
  else
    for (auto v : module_.entry().params) s += (s.empty() ? "%" : ", %") + module_.entry().value(v).name + ": " + module_.entry().type(v).str();
  return s.empty() ? "no inputs" : s;
}

namespace {
std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
std::uint64_t text_hash(const std::string& s) {
  std::uint64_t h = 0;
  for (char c : s) h = mix(h ^ static_cast<unsigned char>(c));
  return h;
}
}  // namespace

std::vector<ir::Type> Source::random_types(std::uint64_t seed, const std::map<std::string, std::int64_t>& dims) const {
  std::map<std::string, std::int64_t> sizes = dims;
  auto size_of = [&](const std::string& symbol) {
    auto [it, fresh] = sizes.emplace(symbol, 0);
    if (fresh) it->second = 2 + static_cast<std::int64_t>(mix(seed + text_hash(symbol)) % 7);
    return it->second;
  };
  std::vector<ir::Type> types;
  if (onnx_) {
    for (const auto& i : onnx_->inputs()) {
      ir::Type t{i.dtype, {}};
      for (std::size_t d = 0; d < i.dims.size(); ++d) t.shape.push_back(i.dims[d].size >= 0 ? i.dims[d].size : size_of(i.dims[d].symbol.empty() ? i.name + "." + std::to_string(d) : i.dims[d].symbol));
      types.push_back(t);
    }
    return types;
  }
  for (auto v : module_.entry().params) {
    ir::Type t = module_.entry().type(v);
    for (auto& d : t.shape)
      if (d.is_symbol()) d = size_of(ir::symbol_name(d.symbol()));
    types.push_back(t);
  }
  return types;
}

ir::Module Source::bind(const std::vector<ir::Literal>& inputs) const {
  std::vector<ir::Type> types;
  for (const auto& l : inputs) types.push_back(l.type());
  if (!onnx_) return ir::specialize(module_, ir::bind_symbols(module_.entry(), types));
  std::vector<const ir::Literal*> values;
  for (const auto& l : inputs) values.push_back(&l);
  auto m = onnx_->import(types, values, &specialised_);
  return m;
}

namespace {

void take_file(const std::string& path, const std::vector<std::string>& names, std::map<std::string, ir::Literal>& by_name, std::vector<ir::Literal>& in_order) {
  if (!fs::exists(path)) fail_input("there is no file " + path);
  const auto extension = fs::path(path).extension();
  if (extension == ".npy") in_order.push_back(ir::load_npy(path));
  else if (extension == ".pb") in_order.push_back(ir::load_tensor_pb(path));
  else if (extension == ".npz") {
    auto arrays = ir::load_npz(path);
    bool named = true;
    for (const auto& [name, value] : arrays) named = named && std::find(names.begin(), names.end(), name) != names.end();
    for (auto& [name, value] : arrays) named ? by_name.insert_or_assign(name, value), void() : in_order.push_back(value);
  } else {
    fail_input(path + ": a tensor file is .npy, .npz or .pb");
  }
}

}  // namespace

std::vector<ir::Literal> load_values(const std::vector<std::string>& files, const std::vector<std::string>& names, const std::vector<DType>&) {
  std::map<std::string, ir::Literal> by_name;
  std::vector<ir::Literal> in_order;
  for (const auto& f : files) {
    const auto equals = f.find('=');
    const std::string name = equals == std::string::npos || fs::exists(f) ? "" : f.substr(0, equals);
    if (name.empty()) {
      take_file(f, names, by_name, in_order);
      continue;
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) fail_input("there is no parameter '" + name + "'");
    std::vector<ir::Literal> one;
    take_file(f.substr(equals + 1), names, by_name, one);
    if (one.size() != 1) fail_input(f + ": one tensor is needed");
    by_name.insert_or_assign(name, one[0]);
  }
  std::vector<ir::Literal> values;
  std::size_t next = 0;
  for (const auto& n : names) {
    if (auto it = by_name.find(n); it != by_name.end()) values.push_back(it->second);
    else if (next < in_order.size()) values.push_back(in_order[next++]);
    else fail_input("no file for '" + n + "': " + std::to_string(names.size()) + " tensors are needed, " + std::to_string(in_order.size() + by_name.size()) + " were given");
  }
  if (next < in_order.size()) fail_input(std::to_string(names.size()) + " tensors are needed, " + std::to_string(in_order.size() + by_name.size()) + " were given");
  return values;
}

/// Integers from 0 to 3, bools evenly; half of the floats multiples of 1/8 in [-4, 4], the others uniform in (-2, 2).
ir::Literal random_literal(const ir::Type& type, std::uint64_t seed) {
  ir::Literal l(type);
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    const std::uint64_t r = mix(seed * 0x2545f4914f6cdd1du + static_cast<std::uint64_t>(i));
    double v = 0;
    if (is_bool(type.dtype)) v = static_cast<double>(r & 1);
    else if (is_integer(type.dtype)) v = static_cast<double>(r % 4);
    else if (r & 1) v = static_cast<double>(static_cast<int>(r >> 8 & 63) - 32) / 8;
    else v = static_cast<double>(static_cast<std::int64_t>(r >> 11)) * 0x1p-51 - 2;
    store_element(type.dtype, l.mutable_raw(), i, v);
  }
  return l;
}

}  // namespace plumb::tools
