// Programs from files.
#include <filesystem>

#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"
#include "tools/cli.h"
#include "tools/random.h"

namespace plumb::tools {

namespace fs = std::filesystem;

Source::Source(const std::string& path) : path_(path) {
  std::error_code none;  // a path that cannot be looked at names no file either
  if (!fs::exists(path, none)) fail_input("there is no file " + path);
  if (fs::is_directory(path)) {
    path_ = (fs::path(path) / "model.onnx").string();
    if (!fs::exists(path_)) fail_input(path + " is a folder without model.onnx");
  }
  const auto extension = fs::path(path_).extension();
  if (extension == ".onnx") onnx_ = std::make_unique<ir::OnnxModel>(ir::OnnxModel::load(path_));
  else if (extension == ".plumb") module_ = ir::parse_file(path_);
  else fail_input(path + ": a program is a .onnx or a .plumb file, or a folder with model.onnx");
  if (onnx_)
    for (const auto& i : onnx_->inputs()) parameters_.push_back({i.name, i.dtype});
  else
    for (auto v : module_.entry().params) parameters_.push_back({module_.entry().value(v).name, module_.entry().type(v).dtype});
}

std::vector<std::string> Source::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& p : parameters_) names.push_back(p.name);
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

std::vector<ir::Type> Source::random_types(std::uint64_t seed, const std::map<std::string, std::int64_t>& dims) const {
  std::map<std::string, std::int64_t> sizes = dims;
  std::map<std::string, bool> used;
  auto size_of = [&](const std::string& symbol) {
    used[symbol] = true;
    auto [it, fresh] = sizes.emplace(symbol, 0);
    if (fresh) it->second = 2 + static_cast<std::int64_t>(mix(seed + text_hash(symbol)) % 7);
    return it->second;
  };
  std::vector<ir::Type> types;
  if (onnx_) {
    for (const auto& i : onnx_->inputs()) {
      if (!i.ranked) fail_input("input " + i.name + " has no declared shape; give --inputs");
      ir::Type t{i.dtype, {}};
      for (std::size_t d = 0; d < i.dims.size(); ++d) t.shape.push_back(i.dims[d].size >= 0 ? i.dims[d].size : size_of(i.dims[d].symbol.empty() ? i.name + "." + std::to_string(d) : i.dims[d].symbol));
      types.push_back(t);
    }
  } else {
    for (auto v : module_.entry().params) {
      ir::Type t = module_.entry().type(v);
      for (auto& d : t.shape)
        if (d.is_symbol()) d = size_of(ir::symbol_name(d.symbol()));
      types.push_back(t);
    }
  }
  for (const auto& [name, size] : dims)
    if (!used[name]) fail_input("--dim " + name + ": the inputs have no such dimension: " + signature());
  return types;
}

ir::Module Source::named(const std::map<std::string, std::int64_t>& dims) const {
  if (!onnx_) return ir::specialize(module_, dims);
  return bind(random_inputs(*this, 0, dims));
}

ir::Module Source::bind(const std::vector<ir::Literal>& inputs) const {
  std::vector<ir::Type> types;
  for (const auto& l : inputs) types.push_back(l.type());
  if (!onnx_) return ir::specialize(module_, ir::bind_symbols(module_.entry(), types));
  std::vector<const ir::Literal*> values;
  for (const auto& l : inputs) values.push_back(&l);
  std::vector<ir::Specialisation> fixed;
  auto m = onnx_->import(types, values, &fixed);
  notes_.clear();
  for (const auto& f : fixed) notes_.push_back("the value of input " + f.input + " decides shapes or branches: the program was compiled for this value");
  return m;
}

}  // namespace plumb::tools
