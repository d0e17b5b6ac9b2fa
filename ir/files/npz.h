// NumPy's .npz: a zip archive of .npy files, stored or deflated.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/tensor/literal.h"

namespace plumb::ir {

/// Arrays by name, in the archive's order; names without ".npy".
using NamedLiterals = std::vector<std::pair<std::string, Literal>>;
/// The dtypes of bare bytes, by name (see npy.h).
using BareDTypes = std::map<std::string, DType>;

enum class Compression { stored, deflated };

NamedLiterals read_npz(std::string_view bytes, std::string_view name, const BareDTypes& bare = {});
std::string write_npz(const NamedLiterals& arrays, Compression compression = Compression::stored);
NamedLiterals load_npz(const std::string& path, const BareDTypes& bare = {});
void save_npz(const std::string& path, const NamedLiterals& arrays, Compression compression = Compression::stored);

}  // namespace plumb::ir
