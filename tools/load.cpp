// Tensors from files, and random tensors.
#include <algorithm>
#include <cstring>
#include <optional>
#include <filesystem>

#include "ir/files/npy.h"
#include "ir/files/npz.h"
#include "ir/scalar/storage.h"
#include "tools/cli.h"
#include "tools/random.h"

namespace plumb::tools {

namespace fs = std::filesystem;

namespace {

/// Tensors that have come so far: by name, and in order for the parameters that no name takes.
struct Loaded {
  const std::vector<Parameter>& parameters;
  std::map<std::string, ir::Literal> by_name;
  std::vector<ir::Literal> in_order;

  const Parameter* find(const std::string& name) const {
    auto it = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    return it == parameters.end() ? nullptr : &*it;
  }
  void take(const std::string& name, ir::Literal value) {
    if (!by_name.emplace(name, std::move(value)).second) fail_input("'" + name + "' is given twice");
  }
  /// The dtype of bare bytes in the next tensor by position.
  std::optional<DType> next_dtype() const {
    return in_order.size() < parameters.size() ? std::optional(parameters[in_order.size()].dtype) : std::nullopt;
  }
};

std::optional<DType> bare(std::optional<DType> t) { return t && is_narrow_float(*t) ? t : std::nullopt; }

bool exists(const std::string& path) {
  std::error_code none;  // a path that cannot be looked at names no file either
  return fs::exists(path, none);
}

void take_npz(const std::string& path, Loaded& to) {
  ir::BareDTypes dtypes;
  for (const auto& p : to.parameters)
    if (is_narrow_float(p.dtype)) dtypes[p.name] = p.dtype;
  auto arrays = ir::load_npz(path, dtypes);
  const bool named = std::all_of(arrays.begin(), arrays.end(), [&](const auto& a) { return to.find(a.first); });
  for (auto& [name, value] : arrays)
    if (named) to.take(name, value);
    else to.in_order.push_back(value);
}

ir::Literal one_tensor(const std::string& path, std::optional<DType> dtype) {
  if (!exists(path)) fail_input("there is no file " + path);
  const auto extension = fs::path(path).extension();
  if (extension == ".npy") return ir::load_npy(path, bare(dtype));
  if (extension == ".pb") return ir::load_tensor_pb(path);
  if (extension != ".npz") fail_input(path + ": a tensor file is .npy, .npz or .pb");
  auto arrays = ir::load_npz(path);
  if (arrays.size() != 1) fail_input(path + " holds " + std::to_string(arrays.size()) + " arrays; one is needed");
  return arrays[0].second;
}

}  // namespace

std::vector<ir::Literal> load_values(const std::vector<std::string>& files, const std::vector<Parameter>& parameters) {
  Loaded loaded{parameters, {}, {}};
  for (const auto& f : files) {
    const auto equals = f.find('=');
    if (equals == std::string::npos || exists(f)) {
      if (exists(f) && fs::path(f).extension() == ".npz") take_npz(f, loaded);
      else loaded.in_order.push_back(one_tensor(f, loaded.next_dtype()));
      continue;
    }
    const auto name = f.substr(0, equals);
    const auto* parameter = loaded.find(name);
    if (!parameter) {
      std::string known;
      for (const auto& p : parameters) known += (known.empty() ? "" : ", ") + p.name;
      fail_input("there is no parameter '" + name + "'; there are: " + known);
    }
    loaded.take(name, one_tensor(f.substr(equals + 1), parameter->dtype));
  }
  const auto given = loaded.in_order.size() + loaded.by_name.size();
  std::vector<ir::Literal> values;
  std::size_t next = 0;
  for (const auto& p : parameters) {
    if (auto it = loaded.by_name.find(p.name); it != loaded.by_name.end()) values.push_back(it->second);
    else if (next < loaded.in_order.size()) values.push_back(loaded.in_order[next++]);
    else fail_input("no file for '" + p.name + "': " + std::to_string(parameters.size()) + " tensors are needed, " + std::to_string(given) + " were given");
  }
  if (next < loaded.in_order.size()) fail_input(std::to_string(parameters.size()) + " tensors are needed, " + std::to_string(given) + " were given");
  return values;
}

void read_as_bf16(ir::Literal& value, DType declared, const std::string& what, std::vector<std::string>& notes) {
  if (declared != DType::bf16 || value.dtype() != DType::u16) return;
  ir::Literal bits(ir::Type{DType::bf16, value.type().shape});
  std::memcpy(bits.mutable_raw(), value.raw(), static_cast<std::size_t>(value.bytes()));
  value = bits;
  notes.push_back(what + " is recorded as u16: its bits were read as the declared bf16");
}

ir::Literal random_literal(const ir::Type& type, std::uint64_t seed) {
  if (is_complex(type.dtype)) return random_literal(ir::parts_type(type), seed).viewed_as(type);
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

std::vector<ir::Literal> random_inputs(const Source& source, std::uint64_t seed, const std::map<std::string, std::int64_t>& dims) {
  std::vector<ir::Literal> inputs;
  for (const auto& t : source.random_types(seed, dims)) {
    const auto& name = source.parameters()[inputs.size()].name;
    try {
      (void)t.bytes();
    } catch (const Error& e) {
      fail_input("input '" + name + "' as " + t.str() + ": " + e.what());
    }
    inputs.push_back(random_literal(t, seed * 1000 + inputs.size()));
  }
  return inputs;
}

}  // namespace plumb::tools
