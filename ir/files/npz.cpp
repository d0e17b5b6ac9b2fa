#include "ir/files/npz.h"

#include <unordered_set>

#include "ir/files/files.h"
#include "ir/files/npy.h"
#include "ir/files/zip.h"

namespace plumb::ir {

NamedLiterals read_npz(std::string_view bytes, std::string_view file, const BareDTypes& bare) {
  NamedLiterals arrays;
  std::unordered_set<std::string> seen;
  for (const auto& entry : read_zip(bytes, file)) {
    const std::string place = std::string(file) + "/" + entry.name;
    if (!entry.name.ends_with(".npy")) fail_input("an entry of an .npz archive is named like x.npy", {place});
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    if (!seen.insert(name).second) fail_input("the archive has two arrays of this name", {place});
    const auto hint = bare.find(name);
    arrays.emplace_back(name, read_npy(entry.bytes, place, hint == bare.end() ? std::nullopt : std::optional(hint->second)));
  }
  return arrays;
}

std::string write_npz(const NamedLiterals& arrays, Compression compression) {
  ZipWriter zip(compression == Compression::deflated);
  for (const auto& [name, literal] : arrays) zip.add(name + ".npy", write_npy(literal));
  return zip.finish();
}

NamedLiterals load_npz(const std::string& path, const BareDTypes& bare) { return read_npz(read_file(path), path, bare); }
void save_npz(const std::string& path, const NamedLiterals& arrays, Compression compression) { write_file(path, write_npz(arrays, compression)); }

}  // namespace plumb::ir
