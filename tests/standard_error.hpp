#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace pollen::test {

// What f writes to the standard error output.
template <class F>
std::string written(const F& f) {
    std::FILE* file = std::tmpfile();
    std::fflush(stderr);
    const int old = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    f();
    std::fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

}  // namespace pollen::test
