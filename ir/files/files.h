// Whole files as bytes, and tensors as bare bytes. What is wrong with a file is bad input that names it.
#pragma once
#include <string>
#include <string_view>

#include "ir/tensor/literal.h"

namespace plumb::ir {

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);

/// The elements alone, row-major, little endian.
Literal load_raw(const std::string& path, const Type& type);
void save_raw(const std::string& path, const Literal& literal);

/// View of a literal's bytes.
inline std::string_view bytes_of(const Literal& l) { return {l.data<char>(), static_cast<std::size_t>(l.bytes())}; }

}  // namespace plumb::ir
