// Files of the repository that the specification quotes, carried in the program: an installed command needs no source tree.
#pragma once
#include <span>
#include <string_view>

namespace plumb::spec {

struct EmbeddedFile { std::string_view path, text; };

/// By path, sorted. The source that defines it is written at build time (cmake/embed.cmake).
std::span<const EmbeddedFile> embedded_files();
/// The text of one file; empty when it is not among them.
std::string_view embedded(std::string_view path);

}  // namespace plumb::spec
